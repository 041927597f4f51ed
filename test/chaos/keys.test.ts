import { expect, test } from 'vitest';
import { leave, Stage } from './directed/stage.ts';

test('a spawn whose answer was lost in a crash is found by its key, and not made twice', async () => {
  const stage = new Stage();
  const dying = await stage.worker();
  const stored = dying.at('create after');
  dying.ask({ what: 'spawn', definition: 'stepper', key: 'once' }).catch(() => {});
  await stored;
  await dying.kill('create after');
  const [record] = (await stage.store.list({})).records;
  const heir = await stage.worker();
  expect(await heir.ask({ what: 'spawn', definition: 'stepper', key: 'once' })).toBe(record?.id);
  await stage.until(String(record?.id), ({ status }) => status === 'completed');
  await leave(heir);
  expect((await stage.store.list({})).records).toHaveLength(1);
  expect(await stage.violations()).toEqual([]);
});
