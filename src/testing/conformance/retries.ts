import assert from 'node:assert/strict';
import type { Write } from '../../store/contract.ts';
import type { Bench, ContractCase } from './bench.ts';
import { sampleEvent, sampleNotice, sampleWrite } from './samples.ts';

/** A write whose answer was lost is asked again; the store must know it. */
export const retries: readonly ContractCase[] = [
  {
    name: 'retry: a creation that is stored already is ok and changes nothing',
    async check(bench) {
      const record = bench.fresh({ key: 'key', name: 'name', seq: 2 });
      await isHarmless(bench, sampleWrite(record, { notices: [sampleNotice(record)] }));
    },
  },
  {
    name: 'retry: a step that is stored already is ok and changes nothing',
    async check(bench) {
      const created = await bench.create();
      await bench.post(created, 'command-1');
      const record = bench.next(created, { outputLength: 5 });
      const body = { type: 'output', stream: 'stdout', text: 'hello', offset: 0 } as const;
      const write = sampleWrite(record, {
        after: created,
        events: [sampleEvent(record, 2, body)],
        notices: [sampleNotice(record, 'asked')],
        consumed: ['command-1'],
      });
      await isHarmless(bench, write);
    },
  },
  {
    name: 'retry: an end that is stored already is ok and changes nothing',
    async check(bench) {
      const created = await bench.create({ name: 'name' });
      const ended = bench.next(created, { status: 'completed', phase: null, endedAt: bench.now });
      const notices = [sampleNotice(ended)];
      await isHarmless(bench, sampleWrite(ended, { after: created, notices }));
    },
  },
  {
    name: 'retry: a resume that is stored already is ok, and its own name is no conflict',
    async check(bench) {
      const stopped = await bench.end(await bench.create({ name: 'name' }), 'stopped');
      const resumed = bench.next(stopped, {
        status: 'running',
        phase: 'working',
        epoch: 2,
        attempt: 2,
        endedAt: null,
      });
      await isHarmless(bench, sampleWrite(resumed, { after: stopped }));
    },
  },
  {
    name: 'retry: a notice that was acknowledged meanwhile does not come back',
    async check(bench) {
      const created = await bench.create();
      const ended = bench.next(created, { status: 'failed', phase: null, endedAt: bench.now });
      const write = sampleWrite(ended, { after: created, notices: [sampleNotice(ended)] });
      await bench.commitOk(write);
      await bench.store.acknowledge(ended.owner, [`${ended.id}:end`]);
      await bench.commitOk(write);
      assert.deepEqual(await bench.take(ended.owner), []);
    },
  },
  {
    name: 'retry: the same step by another holder is fenced',
    async check(bench) {
      const created = await bench.create();
      const next = await bench.step(created);
      const foreign = { ...next, holder: 'holder-2' };
      const outcome = await bench.commit(sampleWrite(foreign, { after: created }));
      assert.deepEqual(outcome, { kind: 'fenced' });
      assert.deepEqual(await bench.load(next), next);
    },
  },
  {
    name: 'retry: the same creation by another holder meets the task that exists',
    async check(bench) {
      const record = await bench.create();
      const outcome = await bench.commit(sampleWrite({ ...record, holder: 'holder-2' }));
      assert.deepEqual(outcome, { kind: 'exists', by: 'id', record });
      assert.deepEqual(await bench.load(record), record);
    },
  },
  {
    name: 'retry: a step that the task has left behind is fenced',
    async check(bench) {
      const created = await bench.create();
      const second = await bench.step(created);
      const third = await bench.step(second);
      const outcome = await bench.commit(sampleWrite(second, { after: created }));
      assert.deepEqual(outcome, { kind: 'fenced' });
      assert.deepEqual(await bench.load(created), third);
    },
  },
];

async function isHarmless(bench: Bench, write: Write): Promise<void> {
  await bench.commitOk(write);
  const before = await bench.view(write.record);
  await bench.commitOk(write);
  assert.deepEqual(await bench.view(write.record), before);
}
