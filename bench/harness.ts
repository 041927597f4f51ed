/** Middle of the samples; what a noisy machine does to single ones hardly moves it. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** The value below which the given share of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** The same items, begun at another one each round, so that none always runs first or last. */
function rotated<Item>(items: readonly Item[], round: number): Item[] {
  const first = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/**
 * Samples every case once a round, in rotated order: whatever disturbs the machine for a while
 * disturbs all cases alike.
 */
export async function sampleInTurn<Case, Sample>(
  cases: readonly Case[],
  rounds: number,
  sample: (each: Case) => Promise<Sample>,
): Promise<Map<Case, Sample[]>> {
  const samples = new Map<Case, Sample[]>(cases.map((each) => [each, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const each of rotated(cases, round)) {
      samples.get(each)?.push(await sample(each));
    }
  }
  return samples;
}

/** Lets what is due happen and collects all garbage, so that no sample pays for the one before. */
export async function settle(): Promise<void> {
  if (gc === undefined) throw new Error('The bench needs `node --expose-gc`.');
  for (let pass = 0; pass < 2; pass += 1) {
    await turn();
    gc();
  }
}

/** One whole turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A door that many can wait at. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
