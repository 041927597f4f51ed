import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '../..');
const HOOK = new URL('./fixtures/source-hook.ts', import.meta.url).href;

/** A demo that has ended. */
export interface DemoRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly lines: readonly string[];
  /** Processes of the demo that are still there. Only Linux tells; elsewhere there are none. */
  readonly left: readonly string[];
}

/** Runs the demo on the sources, without a terminal, and interrupts it at the first line that fits. */
export async function runDemo(interruptAt?: RegExp): Promise<DemoRun> {
  const mark = `OFFSTAGE_DEMO_RUN=${randomUUID()}`;
  const [name = '', value] = mark.split('=');
  const child = spawn(process.execPath, ['--import', HOOK, 'examples/demo/main.ts'], {
    cwd: ROOT,
    env: { ...process.env, [name]: value },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 55_000,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (interruptAt?.test(line)) child.kill('SIGINT');
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, stdout, stderr, lines: stdout.split('\n'), left: processesWith(mark) };
}

/** Every process inherits the environment of the demo, so a mark in it finds them all. */
function processesWith(mark: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readOrNothing(`/proc/${pid}/environ`).includes(mark))
    .map((pid) => readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
