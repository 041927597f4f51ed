import type { Subscription } from 'rxjs';
import {
  backgroundCapable,
  createLoop,
  createRuntime,
  defineTool,
  type Json,
  type Loop,
  memoryStore,
  type PendingUpdate,
  type Route,
  type Runtime,
  type Store,
  type Tool,
  type ToolAnswer,
  type ToolCall,
  type ToolContext,
  type Turn,
  type TurnUpdate,
} from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';
import { Violation } from '../property/violation.ts';
import { mortal } from './mortal-store.ts';

export const OWNER = 'owner';
export const LEASE_MS = 1_000;
const NOTICES_HELD_MS = 30_000;
const GONE = AbortSignal.abort();

/** One run of a tool, steered by the test. */
export interface Body {
  readonly task: string;
  succeed(): void;
  fail(): void;
}

/** One call of the model, as the host keeps it in its transcript, which outlives every process. */
export interface Entry {
  readonly turn: string;
  readonly call: ToolCall;
  readonly route: Route;
  readonly answers: ToolAnswer[];
  /** A start of it is on its way in the process of now. */
  isStarting: boolean;
}

/** What the process of now holds; gone with it. */
interface Process {
  readonly runtime: Runtime;
  readonly loop: Loop;
  readonly turns: Map<string, Turn>;
  readonly listening: Subscription;
  /** Keys of the notices that it has taken. */
  readonly taken: Set<string>;
  die(): void;
  isGone: boolean;
}

/** A host with its transcript over one store, and one process after the other. */
export class World {
  readonly clock: VirtualClock = virtualClock();
  readonly store: Store = memoryStore({ clock: this.clock });
  readonly transcript: Entry[] = [];
  /** Turns that the host has ended or interrupted. */
  readonly overTurns = new Set<string>();
  readonly bodies = new Map<string, Body>();
  /** What bodies returned, by task. */
  readonly returned = new Map<string, Set<string>>();
  /** Notices in the transcript, by key. */
  readonly noticed = new Map<string, PendingUpdate>();
  /** Keys of notices that were taken and not acknowledged: each take must give them again. */
  readonly #unacknowledged = new Set<string>();
  readonly cancelledByHost = new Set<string>();
  readonly counts = new Map<string, number>();
  violation: Error | null = null;
  isWoken = false;
  process!: Process;
  #turnCount = 0;
  #callCount = 0;
  #valueCount = 0;
  readonly #tools: readonly Tool[];

  constructor() {
    this.#tools = TOOLS.map((name) => this.#tool(name));
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** A new process begins; it takes up what an earlier one left. */
  async open(): Promise<void> {
    const { store, die } = mortal(this.store);
    const runtime = await createRuntime({
      clock: this.clock,
      store,
      leaseMs: LEASE_MS,
      limits: { perOwner: 50, perRuntime: 50, graceMs: 500 },
      onError: () => {},
    });
    const thread = runtime.supervisor(OWNER);
    const loop = createLoop(thread, { tools: this.#tools, continue: 'request' });
    this.isWoken = false;
    const process: Process = {
      runtime,
      loop,
      turns: new Map(),
      taken: new Set(),
      listening: loop.continueRequested$.subscribe(() => this.#wake(process)),
      die,
      isGone: false,
    };
    this.process = process;
    await thread.recover();
    this.#reopen();
  }

  #wake(process: Process): void {
    if (process.isGone) return;
    this.count('wake');
    if (this.isWoken) this.fail('the loop was woken again before it had taken anything');
    if (process.turns.size > 0) this.fail('the loop was woken while a turn was open');
    this.isWoken = true;
  }

  fail(message: string): void {
    this.violation ??= new Violation(message);
  }

  /** Calls that the transcript shows unanswered are started again, in their own turns. */
  #reopen(): void {
    for (const entry of this.transcript) {
      if (entry.answers.length > 0) continue;
      this.count('reopened');
      this.overTurns.delete(entry.turn);
      this.#start(entry);
    }
  }

  #tool(name: (typeof TOOLS)[number]): Tool {
    const tool = defineTool({
      name,
      description: name,
      ...(name === 'risky' ? { policy: 'approval' as const } : {}),
      execute: (_args, context) => this.#run(name, context),
    });
    return name === 'sturdy' ? backgroundCapable(tool, { resumable: true }) : tool;
  }

  #run(name: string, context: ToolContext): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const { id, signal, attempt } = context;
    if (this.bodies.has(id)) this.fail(`two bodies of ${id} run at once`);
    if (name === 'risky' && attempt > 1 && this.returned.has(id)) {
      this.fail(`the risky task ${id} ran again`);
    }
    const leave = (settle: () => void) => {
      this.bodies.delete(id);
      settle();
    };
    const body: Body = {
      task: id,
      succeed: () => {
        this.#valueCount += 1;
        const value = `${name} ${this.#valueCount}`;
        this.returned.set(id, (this.returned.get(id) ?? new Set()).add(value));
        leave(() => resolve(value));
      },
      fail: () => leave(() => reject(new Error('secret detail'))),
    };
    this.bodies.set(id, body);
    const isStubborn = name === 'stubborn';
    signal.addEventListener('abort', () => {
      if (!isStubborn && this.bodies.get(id) === body) leave(() => reject(signal.reason));
    });
    return promise;
  }

  beginTurn(): string {
    this.#turnCount += 1;
    const id = `turn-${this.#turnCount}`;
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
    this.#callCount += 1;
    const call: ToolCall = { id: `call-${this.#callCount}`, tool, args: {} };
    const entry: Entry = { turn, call, route, answers: [], isStarting: false };
    this.transcript.push(entry);
    this.#start(entry);
  }

  #start(entry: Entry): void {
    const { process } = this;
    const turn = this.#turnOf(entry.turn);
    entry.isStarting = true;
    void turn.start(entry.call, { route: entry.route }).then((outcome) => {
      if (process.isGone) return;
      entry.isStarting = false;
      if (outcome.kind === 'ready') {
        if (outcome.resolution.kind === 'answer') this.#answer(entry, outcome.resolution.answer);
      } else if (outcome.mode === 'background') {
        this.#answer(entry, outcome.answer);
      }
    });
  }

  #answer(entry: Entry, answer: ToolAnswer): void {
    entry.answers.push(answer);
    this.count(answer.isError ? `answer ${answer.code}` : 'answer');
    const name = `${entry.turn}/${entry.call.id}`;
    if (entry.answers.length > 1) this.fail(`${name} was answered twice`);
    if (answer.call !== entry.call.id) this.fail(`${name} got the answer of ${answer.call}`);
    if (JSON.stringify(answer).includes('secret')) this.fail(`${name} shows an internal error`);
    this.#checkValue(answer.task, answer.isError ? null : answer.result, name);
  }

  /** Whatever the model is told, some body has returned, or an approver has decided. */
  #checkValue(task: string | null, result: Json, what: string): void {
    if (result === null || task === null || typeof result !== 'string') return;
    if (result.startsWith('decided') || this.returned.get(task)?.has(result)) return;
    this.fail(`${what} was told ${result}, which ${task} never returned`);
  }

  #update(turn: string, update: TurnUpdate): void {
    if (update.kind === 'approval' || update.kind === 'input') {
      this.count(update.kind);
      return;
    }
    if (update.kind === 'detached') this.count('detached');
    const entry = this.transcript.find(
      (each) => each.turn === turn && each.call.id === update.call,
    );
    if (entry) this.#answer(entry, update.answer);
  }

  /** Reads what the open turns have to say. */
  async drainTurns(): Promise<void> {
    const { process } = this;
    for (const [id, turn] of [...process.turns]) await this.#drainTurn(id, turn);
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
      if (!keys.has(key)) this.fail(`${key} was not given again`);
    }
    for (const update of batch.updates) {
      this.#unacknowledged.add(update.notice.key);
      const { key, mode, kind, task } = update.notice;
      if (mode === 'foreground' && kind !== 'message') {
        this.fail(`${key} of a foreground task reached the loop`);
      }
      const { answer } = update;
      if (answer) this.#checkValue(task, answer.isError ? null : answer.result, key);
      process.taken.add(key);
      if (!this.noticed.has(key)) this.count(`notice ${kind}`);
      this.noticed.set(key, update);
    }
    if (!isAcknowledged) return;
    await batch.acknowledge();
    for (const key of keys) this.#unacknowledged.delete(key);
  }

  /** The process ends in good order; nothing it is told while it leaves reaches the transcript. */
  async close(): Promise<void> {
    this.process.isGone = true;
    const closed = this.process.runtime.close();
    await this.settle();
    // A stubborn body is given up once its grace is over.
    this.clock.advance(1_000);
    await this.settle();
    await closed;
    this.bodies.clear();
  }

  /** The process is gone from one moment to the next. */
  async crash(): Promise<void> {
    this.process.isGone = true;
    this.process.die();
    this.process.listening.unsubscribe();
    this.bodies.clear();
    await this.settle();
    // The lease of the dead process runs out, and its hold on the notices that it had taken.
    this.clock.advance(NOTICES_HELD_MS + 1);
  }

  /** Waits until everything is stored and told that needs no time. */
  async settle(): Promise<void> {
    for (let quiet = 0, count = 0; quiet < 6; count += 1) {
      if (count > 3_000) throw new Violation('the process does not come to rest');
      await new Promise<void>((resolve) => setImmediate(resolve));
      quiet = this.#isQuiet() ? quiet + 1 : 0;
    }
  }

  #isQuiet(): boolean {
    if (this.process.isGone) return true;
    const { journal, cells } = engineOf(this.process.runtime);
    return journal.isIdle && [...cells.values()].every((cell) => cell.isQuiet);
  }
}

/** Steered tools: plain, resumable, one that needs approval, and one that does not listen. */
export const TOOLS = ['plain', 'sturdy', 'risky', 'stubborn'] as const;
