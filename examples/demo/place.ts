import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The file of the demo's tasks. A second terminal opens it too. */
export const FILE =
  process.env.OFFSTAGE_DEMO_DB ??
  fileURLToPath(new URL('../../.offstage/demo.db', import.meta.url));

/** The same for who only looks on, and so must not make one. */
export function fileOfDemo(): string {
  if (existsSync(FILE)) return FILE;
  process.stderr.write('There is no demo to look at: start one with `npm run demo`.\n');
  process.exit(1);
}

const Kept = z.object({ pid: z.number(), line: z.number(), isBegun: z.boolean() });

/**
 * How far the conversation has come, in a file beside the tasks. They are kept by the store; what was
 * said is the host's own to keep.
 */
export class Place {
  /** The process of the run before this one, `null` if that came to its end. */
  readonly before: number | null;
  /** The line of the user that comes next. */
  line: number;
  /** Whether it was said already, and perhaps acted upon. */
  isBegun: boolean;

  constructor() {
    const kept = read();
    this.before = kept?.pid ?? null;
    this.line = kept?.line ?? 0;
    this.isBegun = kept?.isBegun ?? false;
  }

  /** Whether that other run is still going on. */
  get isTaken(): boolean {
    return this.before !== null && isAlive(this.before);
  }

  begin(line: number): void {
    this.#keep(line, true);
  }

  end(line: number): void {
    this.#keep(line + 1, false);
  }

  /** Says that this process is the one that runs. What a finished run could not remove goes now. */
  take(): void {
    mkdirSync(dirname(FILE), { recursive: true });
    if (this.before === null) this.clear();
    this.#keep(this.line, this.isBegun);
  }

  /** The next run begins anew. */
  clear(): void {
    for (const end of ['', '-wal', '-shm', '.json']) rmSync(`${FILE}${end}`, { force: true });
  }

  /** In one step, so that a crash never leaves half a file. */
  #keep(line: number, isBegun: boolean): void {
    this.line = line;
    this.isBegun = isBegun;
    writeFileSync(`${FILE}.new`, JSON.stringify({ pid: process.pid, line, isBegun }));
    renameSync(`${FILE}.new`, `${FILE}.json`);
  }
}

function read(): z.infer<typeof Kept> | null {
  try {
    return Kept.parse(JSON.parse(readFileSync(`${FILE}.json`, 'utf8')));
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
