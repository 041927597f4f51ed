import fc from 'fast-check';
import { type StoreKind, type StorePlace, storePlaces } from './store-place.ts';

/** How many lives to run, on what, and which: the rest replays one that was reported. */
export interface LivesOptions {
  readonly runs: number;
  readonly store?: StoreKind | undefined;
  readonly seed?: number | undefined;
  readonly path?: string | undefined;
  readonly replay?: string | undefined;
}

/** How often what happened. */
export type Counts = ReadonlyMap<string, number>;

/** What a model has to say to be run. */
export interface Lives<Model extends object, World> {
  /** As `npm run test:deep -- --model` knows it. */
  readonly name: string;
  readonly commands: fc.Arbitrary<fc.AsyncCommand<Model, World>>[];
  readonly maxCommands: number;
  /** One life from its beginning to its end. */
  live(place: StorePlace, commands: Iterable<fc.AsyncCommand<Model, World>>): Promise<Counts>;
}

/** Runs random lives and counts what happened in them. The first that breaks a promise is shrunk and thrown. */
export async function runLives<Model extends object, World>(
  { name, commands, maxCommands, live }: Lives<Model, World>,
  { runs, store = 'memory', seed = (Date.now() ^ process.pid) >>> 1, path, replay }: LivesOptions,
): Promise<Counts> {
  process.stdout.write(`${name} on ${store}: ${runs} sequences, seed ${seed}\n`);
  const seen = new Map<string, number>();
  const places = storePlaces(store);
  const sequence = fc.commands<Model, World, boolean>(commands, {
    maxCommands,
    size: 'max',
    ...(replay !== undefined && { replayPath: replay }),
  });
  const property = fc.asyncProperty(sequence, async (cmds) => {
    const place = places.next();
    const counts = await live(place, cmds).finally(() => place.clear());
    for (const [what, count] of counts) seen.set(what, (seen.get(what) ?? 0) + count);
  });
  try {
    const replayed = path === undefined ? {} : { path };
    const details = await fc.check(property, { numRuns: runs, seed, ...replayed });
    if (details.failed) throw broken(`--model ${name} --store ${store}`, details);
  } finally {
    places.remove();
  }
  return seen;
}

function broken<Commands>(which: string, details: fc.RunDetails<[Commands]>): Error {
  const [commands] = details.counterexample ?? [];
  const replay = /replayPath="([^"]*)"/.exec(String(commands))?.[1] ?? '';
  const { seed, counterexamplePath: path, errorInstance: cause } = details;
  const how = `npm run test:deep -- ${which} --runs 1 --seed=${seed} --path ${path} --replay "${replay}"`;
  const report = fc.defaultReportMessage(details) ?? '';
  return new Error(`${cause}\n\n${report}\n\nReplay it: ${how}\n`, { cause });
}
