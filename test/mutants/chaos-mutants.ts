import type { Mutant } from './mutant.ts';

/** Faults that only show where processes die, sleep too long or race for one file. */
export const chaosMutants: readonly Mutant[] = [
  {
    name: 'the file takes a write of any epoch and any holder',
    file: 'src/store/sqlite/commit.ts',
    find: "if (!isSame || epoch !== expect.epoch || seq !== expect.seq) return { kind: 'fenced' };",
    replace: '',
    tests: ['test/chaos/zombies.test.ts'],
  },
  {
    name: 'nobody counts as alive',
    file: 'src/store/sqlite/leases.ts',
    find: 'return this.#alive.get(holder, now) !== undefined;',
    replace: 'return this.#alive.get(holder, now) === null;',
    tests: ['test/chaos/leases.test.ts'],
  },
  {
    name: 'a claim does not ask whether the holder is alive',
    file: 'src/store/sqlite/claims.ts',
    find: 'if (isHeld) return null;',
    replace: "if (isHeld && id === '') return null;",
    tests: ['test/chaos/leases.test.ts'],
  },
  {
    name: 'two tasks in the file may have one dedupe key',
    file: 'src/store/sqlite/schema.ts',
    find: 'CREATE UNIQUE INDEX tasks_key',
    replace: 'CREATE INDEX tasks_key',
    tests: ['test/chaos/keys.test.ts'],
  },
  {
    name: 'a task that waits for its children can be stopped and run again',
    file: 'machines/task.ts',
    find: `            STOP: [
              {
                guard: 'notYetEnding',
                actions: ['requestStop', 'tellStopRequested', 'cascadeStop'],
              },
              {},
            ],
`,
    replace: '',
    tests: ['test/chaos/joining.test.ts'],
  },
  {
    name: 'a task ends over its running children',
    file: 'machines/task.ts',
    find: 'hasChildren: ({ event }) => event.facts.children > 0,',
    replace: 'hasChildren: ({ event }) => event.facts.children < 0,',
    tests: ['test/chaos/joining.test.ts'],
  },
  {
    name: 'the parts of a write are stored one by one',
    file: 'src/store/sqlite/connection.ts',
    find: '    begin.run();\n    try {\n      const value = work();\n      this.#commit.run();\n',
    replace: '    try {\n      const value = work();\n',
    tests: ['test/chaos/torn-writes.test.ts'],
  },
  {
    name: 'what was sent to a dead runtime is read after its task was stopped',
    file: 'src/runtime/activation.ts',
    find: 'this.#engine.inbox.take(cell, posted);',
    replace: '',
    tests: ['test/unit/recovery-inbox.test.ts'],
  },
  {
    name: 'what a task cannot take before it goes on is thrown away',
    file: 'src/supervisor/planner.ts',
    find: 'if (error && isPutOff(envelope, draft.record)) cell.putOff(envelope.inboxId);\n    else ',
    replace: '',
    tests: ['test/unit/recovery-inbox.test.ts'],
  },
  {
    name: 'what was put off is not looked for again',
    file: 'src/supervisor/cell.ts',
    find: 'this.host.drainInbox(this.id);',
    replace: '',
    tests: ['test/unit/recovery-inbox.test.ts'],
  },
  {
    name: 'a cancel that nobody had read stays in the inbox of a stopped task',
    file: 'src/runtime/recover.ts',
    find: ' || (await isToCancel(engine, id));',
    replace: ';',
    tests: ['test/unit/recovery-inbox.test.ts'],
  },
  {
    name: 'a stop of a task that is to go on changes nothing',
    file: 'machines/task-rules.ts',
    find: "if (command.type !== 'STOP' || request?.recovery !== 'resume') return false;",
    replace: "if (command.type !== 'STOP' || request !== undefined) return false;",
    tests: ['test/unit/recovery-inbox.test.ts'],
  },
  {
    name: 'what a body told last is not said again with its end',
    file: 'src/supervisor/last-words.ts',
    find: 'return [...told, word];',
    replace: 'return told.length < 0 ? told : [word];',
    tests: ['test/unit/behaviours-of-ends.test.ts'],
  },
];
