import { type Observable, Subject, type Subscription } from 'rxjs';
import { createRuntime, defineTask, type TaskEvent } from '../src/index.ts';
import { closedGate, median, sampleInTurn, settle } from './harness.ts';
import { type Findings, rowOf } from './report.ts';
import type { Settings } from './settings.ts';

type Stream = 'runtime.events$' | 'thread.events$' | 'task.events$' | 'bare Subject';

const STREAMS: readonly Stream[] = [
  'runtime.events$',
  'thread.events$',
  'task.events$',
  'bare Subject',
];

const WARM_UP = 1;

interface Case {
  readonly stream: Stream;
  readonly subscribers: number;
}

/** What one delivery of an event costs, by stream and number of subscribers. */
export async function fanOut({ fanOut: settings }: Settings): Promise<Findings> {
  const cases = settings.subscribers.flatMap((subscribers) =>
    STREAMS.map((stream) => ({ stream, subscribers })),
  );
  const sample = (each: Case) =>
    nanosecondsPerDelivery(each, Math.max(1, Math.floor(settings.deliveries / each.subscribers)));
  await sampleInTurn(cases, WARM_UP, sample);
  const samples = await sampleInTurn(cases, settings.rounds, sample);
  const of = (stream: Stream, subscribers: number) => {
    const found = cases.find((each) => each.stream === stream && each.subscribers === subscribers);
    return (found && samples.get(found)) ?? [];
  };
  const rows = cases.map(({ stream, subscribers }) =>
    rowOf({
      measure: 'event fan-out',
      size: subscribers,
      contender: stream,
      unit: 'ns/delivery',
      samples: of(stream, subscribers),
      comparedWith: {
        contender: 'bare Subject',
        median: median(of('bare Subject', subscribers)),
      },
    }),
  );
  return { rows, targets: [] };
}

function nanosecondsPerDelivery({ stream, subscribers }: Case, events: number): Promise<number> {
  const watch = new Stopwatch(events * subscribers);
  return stream === 'bare Subject'
    ? deliverBare(watch, subscribers, events)
    : deliver(stream, watch, subscribers, events);
}

/** Measures from the first delivery to the last: how the events came about is not counted. */
class Stopwatch {
  readonly #expected: number;
  #seen = 0;
  #begin = 0;
  #end = 0;

  constructor(expected: number) {
    this.#expected = expected;
  }

  readonly next = (event: Pick<TaskEvent, 'type'>): void => {
    if (event.type !== 'status') return;
    if (this.#seen === 0) this.#begin = performance.now();
    this.#seen += 1;
    if (this.#seen === this.#expected) this.#end = performance.now();
  };

  get nanosecondsEach(): number {
    if (this.#seen !== this.#expected) {
      throw new Error(`${this.#seen} of ${this.#expected} deliveries were made.`);
    }
    return ((this.#end - this.#begin) * 1_000_000) / this.#expected;
  }
}

async function deliver(
  stream: Exclude<Stream, 'bare Subject'>,
  watch: Stopwatch,
  subscribers: number,
  events: number,
): Promise<number> {
  const gate = closedGate();
  const talk = defineTask({
    name: 'talk',
    // All told before the body leaves is stored in one write and published in one go.
    async run({ status }) {
      await gate.opened;
      for (let event = 0; event < events; event += 1) status('at work');
    },
  });
  const runtime = await createRuntime({ tasks: [talk] });
  const thread = runtime.supervisor('thread-1');
  const task = await thread.spawn(talk, undefined, { notify: false });
  const sources: Record<typeof stream, Observable<TaskEvent>> = {
    'runtime.events$': runtime.events$,
    'thread.events$': thread.events$,
    'task.events$': task.events$,
  };
  const subscriptions = subscribe(sources[stream], subscribers, watch);
  await settle();
  const ended = task.result();
  gate.open();
  await ended;
  for (const subscription of subscriptions) subscription.unsubscribe();
  await runtime.close();
  return watch.nanosecondsEach;
}

async function deliverBare(watch: Stopwatch, subscribers: number, events: number): Promise<number> {
  const subject = new Subject<Pick<TaskEvent, 'type'>>();
  const subscriptions = subscribe(subject, subscribers, watch);
  await settle();
  for (let event = 0; event < events; event += 1) subject.next({ type: 'status' });
  for (const subscription of subscriptions) subscription.unsubscribe();
  return watch.nanosecondsEach;
}

function subscribe(
  source: Observable<Pick<TaskEvent, 'type'>>,
  count: number,
  { next }: Stopwatch,
): Subscription[] {
  return Array.from({ length: count }, () => source.subscribe({ next: (event) => next(event) }));
}
