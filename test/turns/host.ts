import type {
  Json,
  Notice,
  PendingUpdate,
  Route,
  ToolAnswer,
  ToolCall,
  Turn,
  TurnUpdate,
} from '../../src/index.ts';
import type { Death } from '../lives/mortal-store.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

const NOTICES_HELD_MS = 30_000;
const GONE = AbortSignal.abort();

/** One call of the model, as the host keeps it in its transcript, which outlives every process. */
export interface Entry {
  readonly turn: string;
  readonly call: ToolCall;
  readonly route: Route;
  readonly answers: ToolAnswer[];
}

/** Every orphan that is not to go on by itself is asked about, whether or not a turn waited for it. */
export function isQuestion({ kind, data }: Notice): boolean {
  return kind === 'stopped' && JSON.stringify(data) === '{"recovery":"ask"}';
}

/** The program around the loop of one owner, with its transcript. */
export class Host {
  readonly owner: string;
  readonly transcript: Entry[] = [];
  /** Turns that the host has ended or interrupted. */
  readonly overTurns = new Set<string>();
  /** Notices in the transcript, by key. */
  readonly noticed = new Map<string, PendingUpdate>();
  readonly cancelledByHost = new Set<string>();
  isWoken = false;
  process!: Process;
  readonly #world: World;
  /** Keys of notices that were taken and not acknowledged: each take must give them again. */
  readonly #unacknowledged = new Set<string>();

  constructor(world: World, owner: string) {
    this.#world = world;
    this.owner = owner;
  }

  /** A new process begins; it takes up what an earlier one left. */
  async open(): Promise<void> {
    const process = await this.#world.begin(this.owner);
    this.process = process;
    this.isWoken = false;
    process.listening = process.loop.continueRequested$.subscribe(() => this.#wake(process));
    this.#reopen();
  }

  #wake(process: Process): void {
    if (process.isGone) return;
    this.#world.count('wake');
    if (this.isWoken) this.#fail('the loop was woken again before it had taken anything');
    if (process.turns.size > 0) this.#fail('the loop was woken while a turn was open');
    this.isWoken = true;
  }

  #fail(message: string): void {
    this.#world.fail(`${this.owner}: ${message}`);
  }

  /** Calls that the transcript shows unanswered are started again, in their own turns. */
  #reopen(): void {
    for (const entry of this.transcript) {
      if (entry.answers.length > 0) continue;
      this.#world.count('reopened');
      this.overTurns.delete(entry.turn);
      this.#start(entry);
    }
  }

  beginTurn(): string {
    const id = `turn-${this.#world.nextNumber()}`;
    this.#turnOf(id);
    return id;
  }

  #turnOf(id: string): Turn {
    const { loop, turns } = this.process;
    const turn = turns.get(id) ?? loop.beginTurn({ id });
    turns.set(id, turn);
    return turn;
  }

  /** Open turns of the process of now. */
  get openTurns(): readonly string[] {
    return [...this.process.turns.keys()];
  }

  call(turn: string, tool: string, route: Route): void {
    const call: ToolCall = { id: `call-${this.#world.nextNumber()}`, tool, args: {} };
    const entry: Entry = { turn, call, route, answers: [] };
    this.transcript.push(entry);
    this.#start(entry);
  }

  #start(entry: Entry): void {
    const { process } = this;
    const turn = this.#turnOf(entry.turn);
    void turn.start(entry.call, { route: entry.route }).then((outcome) => {
      if (process.isGone) return;
      if (outcome.kind === 'ready') {
        if (outcome.resolution.kind === 'answer') this.#answer(entry, outcome.resolution.answer);
      } else if (outcome.mode === 'background') {
        this.#answer(entry, outcome.answer);
      }
    });
  }

  #answer(entry: Entry, answer: ToolAnswer): void {
    entry.answers.push(answer);
    this.#world.count(answer.isError ? `answer ${answer.code}` : 'answer');
    const name = `${entry.turn}/${entry.call.id}`;
    if (entry.answers.length > 1) this.#fail(`${name} was answered twice`);
    if (answer.call !== entry.call.id) this.#fail(`${name} got the answer of ${answer.call}`);
    if (JSON.stringify(answer).includes('secret')) this.#fail(`${name} shows an internal error`);
    this.#checkValue(answer.task, answer.isError ? null : answer.result, name);
  }

  /** Whatever the model is told, some body has returned, or an approver has decided. */
  #checkValue(task: string | null, result: Json, what: string): void {
    if (result === null || task === null || typeof result !== 'string') return;
    if (result.startsWith('decided') || this.#world.hasReturned(task, result)) return;
    this.#fail(`${what} was told ${result}, which ${task} never returned`);
  }

  #update(turn: string, update: TurnUpdate): void {
    if (update.kind === 'approval' || update.kind === 'input') {
      this.#world.count(update.kind);
      return;
    }
    if (update.kind === 'detached') this.#world.count('detached');
    const entry = this.transcript.find(
      (each) => each.turn === turn && each.call.id === update.call,
    );
    if (entry) this.#answer(entry, update.answer);
  }

  /** Reads what the open turns have to say. */
  async drainTurns(): Promise<void> {
    for (const [id, turn] of [...this.process.turns]) await this.#drainTurn(id, turn);
  }

  async #drainTurn(id: string, turn: Turn): Promise<void> {
    for (
      let update = await turn.next({ signal: GONE });
      update !== null;
      update = await turn.next({ signal: GONE })
    ) {
      this.#update(id, update);
    }
  }

  /** Somebody waits for the turn as a host does. */
  wait(id: string): void {
    const { process } = this;
    void process.turns
      .get(id)
      ?.next()
      .then((update) => {
        if (update !== null && !process.isGone) this.#update(id, update);
      });
  }

  async endTurn(id: string, how: 'interrupt' | 'end'): Promise<void> {
    const { process } = this;
    const turn = process.turns.get(id);
    if (turn === undefined) return;
    this.overTurns.add(id);
    process.turns.delete(id);
    const answers = await turn[how]();
    if (process.isGone) return;
    for (const answer of answers) {
      const entry = this.transcript.find(
        (each) => each.turn === id && each.call.id === answer.call,
      );
      if (entry) this.#answer(entry, answer);
    }
    await this.#drainTurn(id, turn);
  }

  async take(isAcknowledged: boolean): Promise<void> {
    const { process } = this;
    this.isWoken = false;
    const batch = await process.loop.takePending();
    if (process.isGone) return;
    const keys = new Set(batch.updates.map(({ notice }) => notice.key));
    for (const key of this.#unacknowledged) {
      if (!keys.has(key)) this.#fail(`${key} was not given again`);
    }
    for (const update of batch.updates) this.#notice(process, update);
    if (!isAcknowledged) return;
    // From now on it may be stored, also if nobody lives to hear of it.
    for (const key of keys) this.#unacknowledged.delete(key);
    await batch.acknowledge();
  }

  #notice(process: Process, update: PendingUpdate): void {
    const { answer, notice } = update;
    const { key, mode, kind, task, owner } = notice;
    this.#unacknowledged.add(key);
    if (owner !== this.owner) this.#fail(`${key} of ${owner} reached another loop`);
    if (mode === 'foreground' && kind !== 'message' && !isQuestion(notice)) {
      this.#fail(`${key} of a foreground task reached the loop`);
    }
    if (answer) this.#checkValue(task, answer.isError ? null : answer.result, key);
    process.taken.add(key);
    if (!this.noticed.has(key)) this.#world.count(`notice ${kind}`);
    this.noticed.set(key, update);
  }

  /** The process ends in good order; nothing it is told while it leaves reaches the transcript. */
  async close(): Promise<void> {
    const { process } = this;
    process.isClosing = true;
    const closed = process.runtime.close();
    await this.#world.settle();
    // A stubborn body is given up once its grace is over.
    this.#world.clock.advance(1_000);
    await this.#world.settle();
    await Promise.race([closed, process.mortal.death]);
    this.#world.forget(process);
    await process.leave();
  }

  /** Plans the end of the process. */
  plan(death: Death): void {
    this.process.mortal.die(death);
  }

  /** If the process is gone from one moment to the next, another one begins once its lease has run out. */
  async revive(): Promise<void> {
    const { process } = this;
    if (!process.mortal.isDead) return;
    this.#world.count('crash');
    await process.leave();
    await this.#world.settle();
    // Also its hold on the notices that it had taken.
    this.#world.clock.advance(NOTICES_HELD_MS + 1);
    await this.open();
  }
}
