import { readSync, writeSync } from 'node:fs';
import type { Point } from '../points.ts';
import type { Arm, Word } from '../protocol.ts';

const WORDS = 3;
const LEAVE_TO_GO_ON = 4;
const LONGEST_WAIT_MS = 60_000;
const LOOK_MS = 5;

let armed: Arm | null = null;

export function arm(order: Arm): void {
  armed = order;
}

export function isArmed(point: Point): boolean {
  return armed?.point === point;
}

/** What the driver waits for, so that whoever makes work can lead there. */
export function armedPoint(): Point | null {
  return armed?.point ?? null;
}

/** Written at once: the driver knows of it even if the next thing is the end of this process. */
export function say(word: Word): void {
  writeSync(WORDS, `${JSON.stringify(word)}\n`);
}

/** Holds the whole process here, if that is where it is to be held. */
export function pass(point: Point): void {
  if (armed?.point !== point) return;
  if (armed.skip > 0) {
    armed = { ...armed, skip: armed.skip - 1 };
    return;
  }
  const { then } = armed;
  armed = null;
  say({ type: 'at', point });
  if (then === 'park') sleep(LONGEST_WAIT_MS);
  else if (mayGoOn()) return;
  // Nobody came: the driver is gone.
  process.kill(process.pid, 'SIGKILL');
}

/** Without the event loop: nothing else of this process may go on. */
function mayGoOn(): boolean {
  const giveUpAt = performance.now() + LONGEST_WAIT_MS;
  while (performance.now() < giveUpAt) {
    try {
      if (readSync(LEAVE_TO_GO_ON, Buffer.alloc(1)) === 1) return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    sleep(LOOK_MS);
  }
  return false;
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
