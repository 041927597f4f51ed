import { bareActor, type Contender, offstage } from './contenders.ts';
import { median, sampleInTurn, settle } from './harness.ts';
import { atMost, type Findings, rowOf } from './report.ts';
import type { Settings } from './settings.ts';

const CONTENDERS = [offstage, bareActor] as const;
const LIMIT_KB = 5;

/** What a task that is live and waits keeps on the heap, its body and its handle included. */
export async function heapPerTask({ heap }: Settings): Promise<Findings> {
  const samples = await sampleInTurn(CONTENDERS, heap.rounds, (contender) =>
    kilobytesPerTask(contender, heap.live),
  );
  const of = (contender: Contender) => samples.get(contender) ?? [];
  return {
    rows: CONTENDERS.map((contender) =>
      rowOf({
        measure: 'heap per live task',
        size: heap.live,
        contender: contender.name,
        unit: 'KB/task',
        samples: of(contender),
        comparedWith: { contender: bareActor.name, median: median(of(bareActor)) },
      }),
    ),
    targets: [atMost('heap per live task', median(of(offstage)), LIMIT_KB, 'KB')],
  };
}

async function kilobytesPerTask(contender: Contender, count: number): Promise<number> {
  const opened = await contender.open(count);
  await settle();
  const before = process.memoryUsage().heapUsed;
  const live = await opened.start(count);
  await settle();
  const after = process.memoryUsage().heapUsed;
  await live.complete();
  await opened.close();
  return (after - before) / count / 1_000;
}
