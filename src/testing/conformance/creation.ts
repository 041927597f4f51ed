import assert from 'node:assert/strict';
import type { ContractCase } from './bench.ts';
import { sampleNotice, sampleWrite } from './samples.ts';

/** How a task comes into being. */
export const creation: readonly ContractCase[] = [
  {
    name: 'creation: a task is loaded exactly as it was written',
    async check(bench) {
      const message = {
        id: 'm',
        direction: 'in',
        content: ['x', { y: null }],
        inReplyTo: null,
        at: 5,
      } as const;
      const request = { id: 'r', kind: 'choice', prompt: 'Which?', data: { of: [1] }, askedAt: 7 };
      const record = await bench.create({
        name: 'crawler',
        key: 'scope/key',
        description: 'a "quoted" \\ text\nwith 🙂',
        lineage: [{ owner: 'owner-0', id: 'root' }],
        progress: { current: 1, total: 3, unit: 'pages' },
        steps: { first: { ok: true }, second: null },
        inbox: [message],
        requests: [request],
        request: { kind: 'stop', reason: 'pause', at: 9 },
        restarts: [1, 2],
        waitedMs: 0.5,
        outcome: { kind: 'completed', output: [1, 'two'], summary: 'done' },
      });
      assert.deepEqual(await bench.load(record), record);
    },
  },
  {
    name: 'creation: events and notices come in the same step as the record',
    async check(bench) {
      const record = bench.fresh({ seq: 2 });
      const write = sampleWrite(record, { notices: [sampleNotice(record)] });
      await bench.commitOk(write);
      const { events } = await bench.store.readEvents(record.owner, record.id, 0, 10);
      assert.deepEqual(events, write.events);
      assert.deepEqual(await bench.take(record.owner), [`${record.id}:end`]);
    },
  },
  {
    name: 'creation: a task that never was is null, and has no events, output or commands',
    async check(bench) {
      assert.deepEqual(await bench.view(bench.fresh()), {
        record: null,
        events: { lagged: null, events: [] },
        output: { text: '', next: 0, total: 0 },
        commands: [],
        notices: [],
      });
    },
  },
  {
    name: 'creation: an id that is taken is refused with the task that has it, and changes nothing',
    async check(bench) {
      const record = await bench.create();
      const before = await bench.view(record);
      const second = { ...record, seq: 2, holder: 'holder-2', title: 'Other' };
      const outcome = await bench.commit(
        sampleWrite(second, { notices: [sampleNotice(second)], events: [] }),
      );
      assert.deepEqual(outcome, { kind: 'exists', by: 'id', record });
      assert.deepEqual(await bench.view(record), before);
    },
  },
  {
    name: 'creation: an id that another owner has is refused, even to the same holder at the same seq',
    async check(bench) {
      const record = await bench.create();
      const foreign = { ...record, owner: 'owner-2' };
      const outcome = await bench.commit(sampleWrite(foreign));
      assert.deepEqual(outcome, { kind: 'exists', by: 'id', record });
      assert.equal(await bench.load(foreign), null);
    },
  },
];
