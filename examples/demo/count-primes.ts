import { setTimeout as pause } from 'node:timers/promises';
import { exposeTask } from 'offstage/executors';

const PIECES = 50;

/** The body of the task `benchmark`. It runs in a thread of its own and blocks nobody. */
exposeTask<{ below: number }>(async ({ input, signal, progress, summary }) => {
  const { below } = input;
  let primes = 0;
  for (let piece = 1; piece <= PIECES; piece += 1) {
    // Only so that there is something to watch.
    await pause(140, undefined, { signal });
    primes += countPrimes((below / PIECES) * (piece - 1), (below / PIECES) * piece);
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
