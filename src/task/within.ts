import type { Clock } from './clock.ts';

/** The value of some work, if it comes in time. The work itself goes on. */
export async function within<Value>(
  ms: number,
  clock: Clock,
  run: () => Promise<Value>,
): Promise<Value> {
  const { promise: isLate, reject } = Promise.withResolvers<never>();
  const disarm = clock.after(ms, () => reject(new Error(`Nothing was written within ${ms} ms`)));
  try {
    return await Promise.race([run(), isLate]);
  } finally {
    disarm();
  }
}
