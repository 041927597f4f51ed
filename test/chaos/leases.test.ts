import { expect, test } from 'vitest';
import { leave, Stage } from './directed/stage.ts';

test('a task of a living process is not taken from it, however often others look', async () => {
  const stage = new Stage();
  const holder = await stage.worker();
  const id = String(await holder.ask({ what: 'spawn', definition: 'ticker' }));
  const { holder: name } = await stage.until(id, ({ checkpoint }) => checkpoint !== null);
  const other = await stage.worker();
  // With each renewal it looks for tasks that nobody has.
  for (let looks = 0; looks < 2; looks += 1) {
    await other.at('renew after', 'wait');
    other.thaw();
  }
  expect(await other.ask({ what: 'counts' })).toMatchObject({ tasks: 0 });
  expect(await stage.load(id)).toMatchObject({ holder: name, attempt: 1, epoch: 1 });
  await holder.ask({ what: 'cancel', task: id });
  await stage.until(id, ({ status }) => status === 'cancelled');
  await leave(holder);
  await leave(other);
  expect(await stage.violations()).toEqual([]);
});

test('of two that want the same orphan the later one gets nothing, also if it saw it first', async () => {
  const stage = new Stage();
  const dying = await stage.worker();
  const id = String(await dying.ask({ what: 'spawn', definition: 'ticker' }));
  await stage.until(id, ({ checkpoint }) => checkpoint !== null);
  const late = await stage.worker();
  const wanting = late.at('claim before', 'wait');
  await dying.kill('working');
  await wanting;
  late.freeze();
  stage.journal.note({ what: 'late' }, late.pid);
  const heir = await stage.worker();
  const taken = await stage.until(id, ({ attempt, phase }) => attempt === 2 && phase === 'working');
  late.thaw();
  expect(await late.ask({ what: 'counts' })).toMatchObject({ tasks: 0 });
  const { holder, epoch } = taken;
  expect(await stage.load(id)).toMatchObject({ attempt: 2, holder, epoch });
  await heir.ask({ what: 'cancel', task: id });
  await stage.until(id, ({ status }) => status === 'cancelled');
  await leave(heir);
  await leave(late);
  expect(await stage.violations()).toEqual([]);
});
