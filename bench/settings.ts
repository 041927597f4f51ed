import { parseArgs } from 'node:util';

/** How large the bench is. */
export interface Settings {
  readonly spawn: {
    /** Live tasks at once, from few to many. */
    readonly sizes: readonly number[];
    /** The one of them that must cost no more per task than the smallest. */
    readonly crowd: number;
    /** Small sizes are repeated within a sample until it has so many tasks. */
    readonly tasksPerSample: number;
    readonly rounds: number;
    /** Rounds before them, with the smallest size only. */
    readonly warmUp: number;
  };
  readonly heap: { readonly live: number; readonly rounds: number };
  readonly fanOut: {
    readonly subscribers: readonly number[];
    /** Events times subscribers of one sample. */
    readonly deliveries: number;
    readonly rounds: number;
  };
  readonly cancel: { readonly tasks: number; readonly warmUp: number };
  readonly durable: {
    /** Tasks in flight, always. */
    readonly live: number;
    /** Tasks of one sample. */
    readonly tasks: number;
    readonly rounds: number;
    readonly warmUp: number;
  };
  readonly opening: { readonly records: number; readonly rounds: number };
  readonly leak: { readonly tasks: number; readonly warmUp: number; readonly wave: number };
}

const FULL: Settings = {
  spawn: {
    sizes: [1_000, 10_000, 20_000, 100_000],
    crowd: 20_000,
    tasksPerSample: 10_000,
    rounds: 7,
    warmUp: 3,
  },
  heap: { live: 20_000, rounds: 3 },
  fanOut: { subscribers: [1, 10, 100, 1_000], deliveries: 50_000, rounds: 15 },
  cancel: { tasks: 5_000, warmUp: 1_000 },
  durable: { live: 1_000, tasks: 5_000, rounds: 9, warmUp: 3 },
  opening: { records: 100_000, rounds: 9 },
  leak: { tasks: 1_000_000, warmUp: 100_000, wave: 1_000 },
};

const QUICK: Settings = {
  spawn: {
    sizes: [1_000, 2_000, 5_000],
    crowd: 5_000,
    tasksPerSample: 2_000,
    rounds: 3,
    warmUp: 1,
  },
  heap: { live: 5_000, rounds: 1 },
  fanOut: { subscribers: [1, 10, 100, 1_000], deliveries: 10_000, rounds: 2 },
  cancel: { tasks: 500, warmUp: 200 },
  durable: { live: 1_000, tasks: 2_000, rounds: 3, warmUp: 1 },
  opening: { records: 20_000, rounds: 3 },
  leak: { tasks: 30_000, warmUp: 15_000, wave: 1_000 },
};

/** Only shows that every row can be measured; its figures mean nothing. */
const SMOKE: Settings = {
  spawn: { sizes: [10, 20, 30], crowd: 20, tasksPerSample: 10, rounds: 2, warmUp: 0 },
  heap: { live: 50, rounds: 1 },
  fanOut: { subscribers: [1, 10, 100, 1_000], deliveries: 1_000, rounds: 2 },
  cancel: { tasks: 20, warmUp: 0 },
  durable: { live: 10, tasks: 50, rounds: 2, warmUp: 0 },
  opening: { records: 200, rounds: 2 },
  leak: { tasks: 2_000, warmUp: 1_000, wave: 100 },
};

/** What the command line asks for. */
export interface Arguments {
  readonly settings: Settings;
  readonly size: 'full' | 'quick' | 'smoke';
  /** Where the figures go as JSON. */
  readonly json: string;
  /** Which rows to measure; all if absent. */
  readonly only: string | undefined;
}

export function argumentsOf(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      json: { type: 'string', default: '.tmp/bench.json' },
      only: { type: 'string' },
      'leak-tasks': { type: 'string' },
    },
  });
  const size = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full';
  const settings = { full: FULL, quick: QUICK, smoke: SMOKE }[size];
  return {
    size,
    json: values.json,
    only: values.only,
    settings: { ...settings, leak: leakOf(settings.leak, values['leak-tasks']) },
  };
}

function leakOf(leak: Settings['leak'], given: string | undefined): Settings['leak'] {
  if (given === undefined) return leak;
  const tasks = Number(given);
  if (!Number.isInteger(tasks) || tasks < 2 * leak.wave) {
    throw new Error(
      `--leak-tasks must be a whole number from ${2 * leak.wave}, but is "${given}".`,
    );
  }
  const warmUp = Math.min(leak.warmUp, Math.floor(tasks / 2));
  return { ...leak, tasks, warmUp };
}
