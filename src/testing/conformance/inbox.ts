import assert from 'node:assert/strict';
import type { InboxCommand } from '../../store/contract.ts';
import type { Bench, ContractCase } from './bench.ts';

/** Commands to a task from those who do not hold it. */
export const inbox: readonly ContractCase[] = [
  {
    name: 'inbox: commands are read as they were posted, in order',
    async check(bench) {
      const { id: task, owner } = await bench.create();
      const message = {
        id: 'm',
        direction: 'in',
        content: { text: 'hé 🙂' },
        inReplyTo: null,
        at: 5,
      } as const;
      const posted: InboxCommand[] = [
        { id: 'z', task, command: { type: 'ANSWER', requestId: 'r', value: { yes: [true] } } },
        { id: 'a', task, command: { type: 'MESSAGE', message } },
        { id: 'm', task, command: { type: 'STOP', reason: 'pause' } },
        { id: 'b', task, command: { type: 'CANCEL', reason: null } },
      ];
      for (const command of posted) await bench.store.postCommand(owner, command);
      assert.deepEqual(await bench.store.readCommands(task), posted);
      assert.deepEqual(await bench.store.readCommands(task), posted, 'reading takes nothing away');
    },
  },
  {
    name: 'inbox: a command that is posted twice is there once',
    async check(bench) {
      const record = await bench.create();
      const first = await bench.post(record, 'first');
      const second = await bench.post(record, 'second');
      await bench.post(record, 'first');
      assert.deepEqual(await bench.store.readCommands(record.id), [first, second]);
    },
  },
  {
    name: 'inbox: each task has its own',
    async check(bench) {
      const first = await bench.create();
      const second = await bench.create();
      await bench.post(first, 'one');
      await bench.post(second, 'two');
      assert.deepEqual(await commands(bench, first.id), ['one']);
      assert.deepEqual(await commands(bench, second.id), ['two']);
    },
  },
  {
    name: 'inbox: a write takes away the commands it answers, and no others',
    async check(bench) {
      const record = await bench.create();
      for (const id of ['one', 'two', 'three']) await bench.post(record, id);
      await bench.step(record, {}, { consumed: ['one', 'three'] });
      assert.deepEqual(await commands(bench, record.id), ['two']);
    },
  },
  {
    name: 'inbox: a command can be dropped without a write, and dropping it again is harmless',
    async check(bench) {
      const record = await bench.create();
      for (const id of ['one', 'two']) await bench.post(record, id);
      await bench.store.dropCommands(record.id, ['one', 'unknown']);
      await bench.store.dropCommands(record.id, ['one']);
      await bench.store.dropCommands('unknown', ['one']);
      assert.deepEqual(await commands(bench, record.id), ['two']);
    },
  },
  {
    name: 'inbox: it waits for whoever holds the task next',
    async check(bench) {
      const record = await bench.create();
      await bench.post(record, 'one');
      const claimed = await bench.store.claim(record.id, 'holder-2');
      assert.ok(claimed);
      assert.deepEqual(await commands(bench, record.id), ['one']);
      await bench.step(claimed, {}, { consumed: ['one'] });
      assert.deepEqual(await commands(bench, record.id), []);
    },
  },
];

async function commands({ store }: Bench, task: string): Promise<string[]> {
  const posted = await store.readCommands(task);
  return posted.map(({ id }) => id);
}
