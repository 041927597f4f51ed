/** Runs tasks for as long as it is open. */
export interface Runner {
  readonly name: string;
  /** Starts a task and waits until whoever started it knows that it has completed. */
  run(): Promise<unknown>;
  close(): Promise<void>;
}

/** What every task gives back. */
export const OUTPUT = 42;

export interface Load {
  /** Tasks in flight, always. */
  readonly live: number;
  /** Tasks that the time is taken of. */
  readonly tasks: number;
}

/**
 * Tasks per second in a closed loop: for each that completes another is started. The clock begins
 * when as many have completed as are in flight, and ends while all places are still taken.
 */
export async function ratePerSecond(runner: Runner, { live, tasks }: Load): Promise<number> {
  let completed = 0;
  let begin = Number.NaN;
  let end = Number.NaN;
  const place = async () => {
    while (completed < live + tasks) {
      const output = await runner.run();
      if (output !== OUTPUT) throw new Error(`${runner.name}: a task gave ${output}.`);
      completed += 1;
      if (completed === live) begin = performance.now();
      if (completed === live + tasks) end = performance.now();
    }
  };
  await Promise.all(Array.from({ length: live }, place));
  return (tasks * 1_000) / (end - begin);
}
