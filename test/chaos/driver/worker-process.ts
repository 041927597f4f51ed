import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Json } from '../../../src/index.ts';
import type { Journal } from '../journal.ts';
import type { Point } from '../points.ts';
import type { Arm, Ask, Order, Word, WorkerSettings } from '../protocol.ts';

const MAIN = join(import.meta.dirname, '../worker/main.ts');
const COMPILE_CACHE = join(tmpdir(), 'offstage-chaos-cache');

interface Waiting {
  readonly isIt: (word: Word) => boolean;
  readonly resolve: (word: Word | null) => void;
}

/** A worker as its driver sees it. Waits end with `null` when it has gone. */
export class WorkerProcess {
  readonly pid: number;
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #journal: Journal;
  readonly #words: Word[] = [];
  #waiting: Waiting[] = [];
  #asked = 0;
  #isGone = false;
  #isHeld = false;
  /** What it printed: a worker that is well prints nothing. */
  printed = '';

  constructor(settings: WorkerSettings, journal: Journal) {
    this.#journal = journal;
    this.#child = spawn(process.execPath, ['--no-warnings', MAIN, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
    });
    this.pid = this.#child.pid ?? 0;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.exited = promise;
    this.#child.on('exit', (code) => this.#gone(code, resolve));
    // An order to a worker that has just died is not an error.
    this.#child.on('error', () => {});
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.printed += chunk.toString();
      });
    }
    const words = createInterface({ input: this.#child.stdio[3] as Readable });
    words.on('line', (line) => this.#heard(JSON.parse(line) as Word));
  }

  ready(): Promise<Word | null> {
    return this.#word(({ type }) => type === 'ready');
  }

  /** Holds it at a point. Resolves once it is there. */
  async at(point: Point, then: Arm['then'] = 'park', skip = 0): Promise<Word | null> {
    const reached = this.#word((word) => word.type === 'at' && word.point === point);
    this.order({ type: 'arm', point, skip, then });
    const word = await reached;
    this.#isHeld = word !== null && then === 'wait';
    return word;
  }

  async ask(what: Omit<Ask, 'type' | 'id'>): Promise<Json> {
    this.#asked += 1;
    const id = this.#asked;
    const answered = this.#word((word) => word.type === 'answer' && word.id === id);
    this.order({ type: 'ask', id, ...what });
    const word = await answered;
    if (word?.type !== 'answer') throw new Error(`Worker ${this.pid} is gone:\n${this.printed}`);
    return word.value;
  }

  order(order: Order): void {
    if (!this.#isGone) this.#child.send(order, () => {});
  }

  /** Stops the process as it is. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  /** Lets it go on, also from where it was held. */
  thaw(): void {
    if (this.#isHeld) (this.#child.stdio[4] as Writable).write('.');
    this.#isHeld = false;
    this.#child.kill('SIGCONT');
  }

  /** Kills it, and notes where it was. */
  async kill(where: string): Promise<void> {
    this.#child.kill('SIGKILL');
    this.#journal.note({ what: 'killed', where }, this.pid);
    await this.exited;
  }

  #word(isIt: Waiting['isIt']): Promise<Word | null> {
    const index = this.#words.findIndex(isIt);
    const [word] = index < 0 ? [] : this.#words.splice(index, 1);
    if (word) return Promise.resolve(word);
    if (this.#isGone) return Promise.resolve(null);
    return new Promise((resolve) => this.#waiting.push({ isIt, resolve }));
  }

  #heard(word: Word): void {
    const waiting = this.#waiting.find(({ isIt }) => isIt(word));
    if (waiting === undefined) {
      this.#words.push(word);
      return;
    }
    this.#waiting = this.#waiting.filter((each) => each !== waiting);
    waiting.resolve(word);
  }

  #gone(code: number | null, resolve: (code: number | null) => void): void {
    this.#isGone = true;
    for (const waiting of this.#waiting) waiting.resolve(null);
    this.#waiting = [];
    resolve(code);
  }
}
