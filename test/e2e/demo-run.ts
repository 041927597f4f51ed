import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

const ROOT = join(import.meta.dirname, '../..');
const HOOK = new URL('./fixtures/source-hook.ts', import.meta.url).href;
const DOOR = new URL('./fixtures/door.ts', import.meta.url).href;
const MARK = 'OFFSTAGE_DEMO_RUN';

/** A program that has ended. */
export interface Run {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly lines: readonly string[];
}

/** A program that runs. */
export interface Running {
  readonly ended: Promise<Run>;
  /** Resolves with the first line that fits; rejects if none does. */
  line(pattern: RegExp): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Lets a program begin that waits before its first line. */
  open(): void;
}

/** When a demo is ended before its end. */
export interface Cut {
  readonly at: RegExp;
  readonly by: 'SIGINT' | 'SIGKILL';
}

/** A home for demos that take one another up: their file, and a mark on all their processes. */
export class DemoHome {
  readonly #directory = mkdtempSync(join(tmpdir(), 'offstage-demo-'));
  readonly #mark = randomUUID();

  /** Starts a program on the sources, without a terminal. */
  start(path: string, ...args: string[]): Running {
    return this.#spawn(['--import', HOOK, join(ROOT, path), ...args]);
  }

  /** The same, with all its modules loaded: it begins as soon as it is opened. */
  prepare(path: string, ...args: string[]): Running {
    return this.#spawn(['--import', HOOK, '--import', DOOR, join(ROOT, path), ...args]);
  }

  #spawn(args: readonly string[]): Running {
    const child = spawn(process.execPath, args, {
      cwd: '/',
      env: { ...process.env, [MARK]: this.#mark, OFFSTAGE_DEMO_DB: join(this.#directory, 'db') },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 90_000,
      killSignal: 'SIGKILL',
    });
    return running(child);
  }

  /** Runs the demo to its end, or until it is cut off. */
  async run(cut?: Cut): Promise<Run> {
    const demo = this.start('examples/demo/main.ts');
    if (cut) demo.line(cut.at).then(() => demo.kill(cut.by), ignore);
    return demo.ended;
  }

  /** Files that are still there. */
  get files(): readonly string[] {
    return readdirSync(this.#directory);
  }

  /** Processes that are still there. Only Linux tells; elsewhere there are none. */
  get processes(): readonly string[] {
    return this.#pids().map((pid) => readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
  }

  /** Every process inherits the environment of the demo, so a mark in it finds them all. */
  #pids(): readonly string[] {
    if (process.platform !== 'linux') return [];
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => {
      return readOrNothing(`/proc/${pid}/environ`).includes(`${MARK}=${this.#mark}`);
    });
  }

  /** What a killed demo had started outlives it. */
  remove(): void {
    for (const pid of this.#pids()) process.kill(Number(pid), 'SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function running(child: Child): Running {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const reader = createInterface({ input: child.stdout });
  const ended = new Promise<Run>((resolve) => {
    child.once('close', (exitCode) => {
      resolve({ exitCode, stdout, stderr, lines: stdout.split('\n') });
    });
  });
  return {
    ended,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        reader.on('line', (line) => pattern.test(line) && resolve(line));
        ended.then(() => reject(new Error(`No line like ${pattern}: ${stdout}${stderr}`)));
      }),
    kill: (signal) => child.kill(signal),
    open: () => child.stdin.end(),
  };
}

function ignore(): void {}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
