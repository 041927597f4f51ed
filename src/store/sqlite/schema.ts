/**
 * The steps that lead from an empty file to the newest schema. A file says in `user_version` how many
 * of them it has taken. A step that was published is never changed; new ones go to the end.
 *
 * A task is known inside the file by a small number `n`. Rows of other tables refer to it as `task`,
 * and go with it: `Pruning` is the only place where tasks are removed.
 * What is asked for has a column of its own, and all that there is to know is in `body`.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    -- Grows with every commit, so that others can ask what is new.
    changes INTEGER NOT NULL
  );
  INSERT INTO store VALUES (1, 0);

  CREATE TABLE tasks (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    key TEXT,
    name TEXT,
    parent TEXT,
    kind TEXT NOT NULL,
    definition TEXT NOT NULL,
    status TEXT NOT NULL,
    is_settled INTEGER NOT NULL,
    created_at NUMERIC NOT NULL,
    ended_at NUMERIC,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    holder TEXT NOT NULL,
    -- Without a lease of this name the task is an orphan.
    keeper TEXT,
    changed INTEGER NOT NULL,
    events_from INTEGER NOT NULL,
    events_text INTEGER NOT NULL,
    output_head INTEGER NOT NULL DEFAULT 0,
    output_total INTEGER NOT NULL DEFAULT 0,
    -- Characters of the kept end, and of what was not yet removed before it.
    output_held INTEGER NOT NULL DEFAULT 0,
    -- Characters behind the kept beginning by stream, as JSON.
    output_streams TEXT NOT NULL DEFAULT '[]',
    body TEXT NOT NULL
  );
  CREATE UNIQUE INDEX tasks_key ON tasks (owner, key) WHERE key IS NOT NULL;
  CREATE UNIQUE INDEX tasks_name ON tasks (owner, ifnull(parent, ''), name)
    WHERE name IS NOT NULL AND status = 'running';
  -- By creation, then by id: few tasks share a time, and those are sorted when they are read.
  CREATE INDEX tasks_owner ON tasks (owner, created_at);
  CREATE INDEX tasks_parent ON tasks (parent, created_at) WHERE parent IS NOT NULL;
  CREATE INDEX tasks_age ON tasks (created_at);
  CREATE INDEX tasks_live ON tasks (owner, created_at) WHERE status IN ('running', 'stopped');
  CREATE INDEX tasks_keeper ON tasks (keeper, created_at) WHERE keeper IS NOT NULL;
  CREATE INDEX tasks_ended ON tasks (ended_at, n, is_settled, status) WHERE ended_at IS NOT NULL;
  CREATE INDEX tasks_changed ON tasks (changed);

  CREATE TABLE events (
    task INTEGER NOT NULL,
    -- Of the first event in the row. All that one write has told are in one row.
    seq INTEGER NOT NULL,
    count INTEGER NOT NULL,
    -- Characters of output in them.
    text INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (task, seq)
  ) WITHOUT ROWID;

  CREATE TABLE output (
    task INTEGER NOT NULL,
    at INTEGER NOT NULL,
    length INTEGER NOT NULL,
    stream TEXT NOT NULL,
    -- Where it begins in what its stream has written behind the kept beginning.
    place INTEGER NOT NULL,
    -- A JSON string: half a character at the end of a piece would not survive as text.
    text TEXT NOT NULL,
    PRIMARY KEY (task, at)
  ) WITHOUT ROWID;

  CREATE TABLE notices (
    n INTEGER PRIMARY KEY,
    task INTEGER NOT NULL,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    delivery TEXT NOT NULL,
    taker TEXT,
    until NUMERIC,
    -- NULL once it is acknowledged; its key stays taken.
    body TEXT
  );
  CREATE UNIQUE INDEX notices_key ON notices (key, task);
  CREATE INDEX notices_task ON notices (task);
  CREATE INDEX notices_pending ON notices (owner, n) WHERE body IS NOT NULL;
  CREATE INDEX notices_taker ON notices (taker) WHERE taker IS NOT NULL;

  CREATE TABLE commands (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (task, id)
  );
  CREATE INDEX commands_cancel ON commands (task) WHERE type = 'CANCEL';

  CREATE TABLE leases (
    holder TEXT PRIMARY KEY,
    until NUMERIC NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE lost (
    n INTEGER PRIMARY KEY,
    holder TEXT NOT NULL,
    task INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    UNIQUE (task, holder)
  );
  CREATE INDEX lost_holder ON lost (holder);
  `,
];
