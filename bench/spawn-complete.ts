import {
  bareActor,
  barePromise,
  type Contender,
  effectFiber,
  offstage,
  pQueue,
} from './contenders.ts';
import { median, sampleInTurn, settle } from './harness.ts';
import { atMost, type Findings, type Row, rowOf, type Target } from './report.ts';
import type { Settings } from './settings.ts';

const CONTENDERS = [offstage, bareActor, barePromise, pQueue, effectFiber] as const;

interface Case {
  readonly contender: Contender;
  readonly size: number;
}

/** Microseconds per task. */
interface Cost {
  readonly wall: number;
  /** Of all threads, the garbage collector's too; other processes hardly disturb it. */
  readonly cpu: number;
}

type Times = (contender: Contender, size: number) => readonly number[];

/** From the start of a task to its end, with many of them live at once. */
export async function spawnComplete({ spawn }: Settings): Promise<Findings> {
  // Sizes take turns as well, since growth compares them with each other.
  const cases = spawn.sizes.flatMap((size) => CONTENDERS.map((contender) => ({ contender, size })));
  const smallest = cases.filter(({ size }) => size === endsOf(spawn.sizes).smallest);
  const sample = (each: Case) =>
    costPerTask(each, Math.max(1, Math.floor(spawn.tasksPerSample / each.size)));
  await sampleInTurn(smallest, spawn.warmUp, sample);
  const samples = await sampleInTurn(cases, spawn.rounds, sample);
  const costs = (contender: Contender, size: number) => {
    const found = cases.find((each) => each.contender === contender && each.size === size);
    return (found && samples.get(found)) ?? [];
  };
  const times: Times = (contender, size) => costs(contender, size).map(({ wall }) => wall);
  const cpuTimes: Times = (contender, size) => costs(contender, size).map(({ cpu }) => cpu);
  return {
    rows: [
      ...timeRows('spawn→complete', CONTENDERS, spawn, times),
      ...timeRows('spawn→complete, CPU', [offstage, bareActor], spawn, cpuTimes),
      ...growthRows(spawn, times),
    ],
    targets: targetsOf(spawn, times),
  };
}

/** The mean over so many batches, each of which starts `size` tasks and lets all of them complete. */
async function costPerTask({ contender, size }: Case, batches: number): Promise<Cost> {
  const opened = await contender.open(size);
  await settle();
  let wall = 0;
  let cpu = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    const cpuBegin = process.cpuUsage();
    const begin = performance.now();
    const live = await opened.start(size);
    await live.complete();
    wall += (performance.now() - begin) * 1_000;
    const { user, system } = process.cpuUsage(cpuBegin);
    cpu += user + system;
    const completed = live.countCompleted();
    if (completed !== size) {
      throw new Error(`${contender.name}: ${completed} of ${size} tasks completed.`);
    }
  }
  await opened.close();
  return { wall: wall / (batches * size), cpu: cpu / (batches * size) };
}

function timeRows(
  measure: string,
  contenders: readonly Contender[],
  { sizes }: Settings['spawn'],
  times: Times,
): Row[] {
  return sizes.flatMap((size) =>
    contenders.map((contender) =>
      rowOf({
        measure,
        size,
        contender: contender.name,
        unit: 'µs/task',
        samples: times(contender, size),
        comparedWith: { contender: bareActor.name, median: median(times(bareActor, size)) },
      }),
    ),
  );
}

function growthRows({ sizes }: Settings['spawn'], times: Times): Row[] {
  const { smallest, largest } = endsOf(sizes);
  return CONTENDERS.map((contender) =>
    rowOf({
      measure: `growth from ${smallest.toLocaleString('en')}`,
      size: largest,
      contender: contender.name,
      unit: '×',
      samples: [growth(times, contender, smallest, largest)],
      comparedWith: {
        contender: bareActor.name,
        median: growth(times, bareActor, smallest, largest),
      },
    }),
  );
}

function growth(times: Times, contender: Contender, from: number, to: number): number {
  return median(times(contender, to)) / median(times(contender, from));
}

function endsOf(sizes: readonly number[]): { smallest: number; largest: number } {
  return { smallest: Math.min(...sizes), largest: Math.max(...sizes) };
}

function targetsOf({ sizes, crowd }: Settings['spawn'], times: Times): Target[] {
  const { smallest, largest } = endsOf(sizes);
  const show = (size: number) => size.toLocaleString('en');
  return [
    ...sizes.map((size) =>
      atMost(
        `spawn→complete of ${show(size)} live tasks against a bare actor`,
        median(times(offstage, size)) / median(times(bareActor, size)),
        2,
        '×',
      ),
    ),
    atMost(
      `growth from ${show(smallest)} to ${show(largest)} live tasks against that of a bare actor`,
      growth(times, offstage, smallest, largest) / growth(times, bareActor, smallest, largest),
      1.2,
      '×',
    ),
    atMost(
      `growth to ${show(crowd)} live tasks under one owner against that of a bare actor`,
      growth(times, offstage, smallest, crowd) / growth(times, bareActor, smallest, crowd),
      1.2,
      '×',
    ),
  ];
}
