import assert from 'node:assert/strict';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';
import { sampleEvent, sampleNotice, sampleWrite } from './samples.ts';

/** Who may write: only the holder, only at the stored epoch and seq. */
export const fence: readonly ContractCase[] = [
  {
    name: 'fence: a write at the stored epoch and seq by the holder is stored',
    async check(bench) {
      const created = await bench.create();
      const next = await bench.step(created, { statusText: 'half way', checkpoint: { at: 1 } });
      assert.deepEqual(await bench.load(created), next);
    },
  },
  {
    name: 'fence: a new attempt raises the epoch with a write of its own',
    async check(bench) {
      const created = await bench.create();
      const second = await bench.step(created, { epoch: 2, attempt: 2 });
      const third = await bench.step(second);
      assert.deepEqual(await bench.load(created), third);
    },
  },
  {
    name: 'fence: a write to a task that never was is fenced and makes none',
    async check(bench) {
      const record = bench.fresh();
      const outcome = await bench.commit(sampleWrite(bench.next(record), { after: record }));
      assert.deepEqual(outcome, { kind: 'fenced' });
      assert.equal(await bench.load(record), null);
    },
  },
  {
    name: 'fence: a write of an older epoch is fenced',
    check: (bench) => isFenced(bench, (stored) => ({ ...stored, epoch: stored.epoch - 1 })),
  },
  {
    name: 'fence: a write of a newer epoch is fenced',
    check: (bench) => isFenced(bench, (stored) => ({ ...stored, epoch: stored.epoch + 1 })),
  },
  {
    name: 'fence: a write at an older seq is fenced',
    check: (bench) => isFenced(bench, (stored) => ({ ...stored, seq: stored.seq - 2 })),
  },
  {
    name: 'fence: a write at a newer seq is fenced',
    check: (bench) => isFenced(bench, (stored) => ({ ...stored, seq: stored.seq + 1 })),
  },
  {
    name: 'fence: a write by another holder is fenced',
    check: (bench) => isFenced(bench, (stored) => ({ ...stored, holder: 'holder-2' })),
  },
];

/** Tries a write from where its writer believes the task to stand; nothing at all may change. */
async function isFenced(bench: Bench, believed: (stored: TaskRecord) => TaskRecord): Promise<void> {
  const created = await bench.create({ epoch: 3 }, {});
  const printed = await bench.print(created, 'kept');
  const stored = await bench.step(printed, {}, { notices: [sampleNotice(printed, 'kept')] });
  await bench.post(stored, 'command-1');
  const before = await bench.view(stored);

  const after = believed(stored);
  const record = bench.next(after, { statusText: 'late', outputLength: 8 });
  const body = { type: 'output', stream: 'stdout', text: 'late', offset: 4 } as const;
  const outcome = await bench.commit(
    sampleWrite(record, {
      after,
      events: [sampleEvent(record, record.seq, body)],
      notices: [sampleNotice(record, 'late')],
      consumed: ['command-1'],
    }),
  );
  assert.deepEqual(outcome, { kind: 'fenced' });
  assert.deepEqual(await bench.view(stored), before);
}
