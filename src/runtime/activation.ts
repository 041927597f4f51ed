import { refusalOf, type TaskCommand } from '../../machines/index.ts';
import type { InboxCommand, RemoteCommand } from '../store/contract.ts';
import type { Cell } from '../supervisor/cell.ts';
import { type Command, decide, snapshotOf } from '../supervisor/decide.ts';
import { OffstageError, refused, unknownTask } from '../task/errors.ts';
import { newId } from '../task/ids.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import { checkRecord } from '../task/record-schema.ts';
import type { Engine } from './engine.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** Where a task is: in the hands of this runtime, of another one, or of nobody because it has ended. */
type Place =
  | { readonly kind: 'here'; readonly cell: Cell }
  | { readonly kind: 'elsewhere'; readonly record: TaskRecord }
  | { readonly kind: 'ended'; readonly record: TaskRecord };

const MAX_CLAIMS = 5;

/**
 * Brings a task that has no actor here back into this runtime's hands, or finds out who has it. All
 * who ask for one task at the same time share one way, so it is never activated twice.
 */
export class Activation {
  readonly #engine: Engine;
  readonly #underWay = new Map<string, Promise<Place>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Resolves when no task is on its way into this runtime. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay.values());
  }

  /** Asks something of a task, wherever it is. Resolves once the request is stored. */
  send(owner: string, id: string, command: Command): Promise<void> {
    const live = this.#engine.cells.get(id);
    // In the same turn: a cancel must have aborted when its call returns.
    if (live?.record.owner === owner) return live.request(command);
    return this.#sendElsewhere(owner, id, command);
  }

  async #sendElsewhere(owner: string, id: string, command: Command): Promise<void> {
    if (this.#engine.isShut) this.#engine.throwIfClosing();
    // Refused by what is stored: then nobody's hands are disturbed by a claim.
    const stored = await this.#engine.store.load(owner, id);
    if (stored?.status === 'stopped') preview(stored, command);
    let place = await this.find(owner, id);
    // Others who shared the way may have let the task leave again before this one's turn came.
    while (place.kind === 'here' && !place.cell.isLive) place = await this.find(owner, id);
    if (place.kind === 'here') return place.cell.request(command);
    preview(place.record, command);
    if (!isRemote(command)) throw refused('already_running', id);
    await this.#engine.store.postCommand(owner, { id: newId(), task: id, command });
    await this.#follow(owner, id, command);
  }

  /** The task may have left its holder while the command was posted: then nobody else would read it. */
  async #follow(owner: string, id: string, command: Command): Promise<void> {
    const record = await this.#engine.store.load(owner, id);
    if (record?.status === 'stopped') await this.find(owner, id);
    else if (record !== null && isTerminal(record)) preview(record, command);
  }

  /** Where a task is. One whose runtime has died is taken up here, and becomes what `judge` says. */
  find(owner: string, id: string, judge: Judge = verdictOn): Promise<Place> {
    const live = this.#engine.cells.get(id);
    if (live?.record.owner === owner) return Promise.resolve({ kind: 'here', cell: live });
    const key = `${owner}\n${id}`;
    const underWay = this.#underWay.get(key);
    if (underWay) return underWay;
    const found = this.#find(owner, id, judge).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, found);
    return found;
  }

  async #find(owner: string, id: string, judge: Judge): Promise<Place> {
    const { store } = this.#engine;
    for (let attempt = 0; attempt < MAX_CLAIMS; attempt += 1) {
      const record = await store.load(owner, id);
      if (record === null) throw unknownTask(id);
      checkRecord(record);
      if (isTerminal(record)) return { kind: 'ended', record };
      const isElsewhere = record.status === 'running' && record.holder !== this.#engine.holder;
      if (isElsewhere && (await store.isAlive(record.holder))) return { kind: 'elsewhere', record };
      const claimed = await store.claim(id, this.#engine.holder);
      if (claimed !== null) return { kind: 'here', cell: await this.#enter(claimed, judge) };
    }
    throw new OffstageError('store_error', `Task ${id} could not be claimed.`, {
      attempts: MAX_CLAIMS,
    });
  }

  async #enter(record: TaskRecord, judge: Judge): Promise<Cell> {
    const isOrphan = record.status === 'running';
    // From here on this runtime tells what happens to the task; what happened before is told first.
    await this.#engine.elsewhere.catchUp(record.owner, record.id);
    const posted = await (isOrphan ? this.#inherit(record) : this.#posted(record));
    // Left to the next runtime: this one no longer waits for what comes to it now.
    if (isOrphan) this.#engine.throwIfClosing();
    const cell = this.#engine.cellOf(record);
    cell.reload(record);
    // As it is registered now.
    cell.definition = this.#engine.registry.find(record);
    this.#engine.enter(cell);
    const unsaid = cell.takeUnsaid(record);
    for (const command of unsaid) cell.post({ ...command, epoch: record.epoch });
    // What was asked of the runtime that is gone comes before what becomes of the task now.
    this.#engine.inbox.take(cell, posted);
    if (isOrphan && unsaid.length === 0) this.#execute(judge(this.#engine, record), cell);
    void this.#engine.inbox.drain(record.id);
    return cell;
  }

  /** Takes over what a dead runtime had: its view of the children, and what was posted to it. */
  async #inherit(record: TaskRecord): Promise<readonly InboxCommand[]> {
    try {
      await this.#engine.kin.adoptChildren(record);
      return await this.#posted(record);
    } catch (error) {
      // It is this runtime's by now, so nobody would find it without an owner.
      this.#engine.recovery.remember(record);
      throw error;
    }
  }

  #posted({ id }: TaskRecord): Promise<readonly InboxCommand[]> {
    return this.#engine.store.readCommands(id);
  }

  #execute(verdict: Verdict, cell: Cell): void {
    const { admission } = this.#engine;
    const { epoch, phase } = cell.record;
    if (verdict.kind === 'fail') {
      cell.post({ type: 'FAIL', epoch, failure: verdict.failure });
    } else if (verdict.kind === 'stop') {
      const { kind: _, ...why } = verdict;
      cell.post({ type: 'STOP', ...why, isCrash: true });
    } else {
      if (phase === 'queued') admission.enter(cell, { whenFull: 'queue' });
      this.#engine.stored(cell, cell.snapshot);
      if (phase === 'queued' && cell.permit !== 'waiting') cell.post({ type: 'START' });
      // What it waited for may have come meanwhile.
      cell.poke();
    }
  }
}

/** Decides what becomes of an orphan. */
type Judge = (engine: Engine, record: TaskRecord) => Verdict;

/** Refuses at once what the holder would refuse by what is stored now. */
function preview(record: TaskRecord, command: Command): void {
  const facts = {
    now: record.updatedAt,
    executor: true,
    children: 0,
    parentRunning: true,
    foreground: true,
    admitted: true,
    resumable: true,
    graceMs: 0,
    restart: null,
    jitter: 0,
  };
  const snapshot = snapshotOf(record);
  if (decide(snapshot, command, facts) !== undefined) return;
  throw refused(refusalOf(snapshot, { ...command, facts } as TaskCommand), record.id);
}

function isRemote(command: Command): command is RemoteCommand {
  return (
    command.type === 'ANSWER' ||
    command.type === 'MESSAGE' ||
    command.type === 'CANCEL' ||
    command.type === 'STOP' ||
    command.type === 'DETACH' ||
    command.type === 'REDIRECT'
  );
}
