import { setTimeout as pause } from 'node:timers/promises';
import { exposeTask } from 'offstage/executors';
import { z } from 'zod';

const PIECES = 50;
const Place = z.object({ piece: z.number(), primes: z.number() });

/** The body of the task `benchmark`. It runs in a thread of its own and blocks nobody. */
exposeTask<{ below: number }>(async (context) => {
  const { input, signal, resumedFrom, checkpoint, progress, summary } = context;
  const { below } = input;
  let { piece, primes } = Place.parse(resumedFrom ?? { piece: 0, primes: 0 });
  while (piece < PIECES) {
    // Only so that there is something to watch.
    await pause(200, undefined, { signal });
    primes += countPrimes((below / PIECES) * piece, (below / PIECES) * (piece + 1));
    piece += 1;
    await checkpoint({ piece, primes });
    progress({ current: piece, total: PIECES, unit: 'pieces' });
  }
  summary(`${primes.toLocaleString('en')} primes below ${below.toLocaleString('en')}`);
  return { primes };
});

function countPrimes(from: number, to: number): number {
  let count = 0;
  for (let number = Math.max(2, Math.ceil(from)); number < to; number += 1) {
    if (isPrime(number)) count += 1;
  }
  return count;
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) {
    if (number % divisor === 0) return false;
  }
  return true;
}
