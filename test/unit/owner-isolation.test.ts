import { describe, expect, it } from 'vitest';
import type { Notice, TaskEvent, TaskRecord } from '../../src/index.ts';
import { isOffstageError } from '../../src/index.ts';
import { openStage, type Stage, settle as settleAll, steered, thrown } from './setup.ts';

const UNKNOWN = 'no-such-task';

/** A task of another owner, with all that it can have. */
async function foreignTask() {
  const work = steered('work', { resumable: true });
  const stage = await openStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition, undefined, {
    id: 'theirs',
    key: 'their-key',
    name: 'their-name',
    notify: true,
  });
  const child = await stage.thread.spawn(work.definition, undefined, { parent: task.id });
  void work.bodies[0]?.context.output('secret output').catch(() => {});
  void work.bodies[0]?.context.requestInput({ prompt: 'secret?' }).catch(() => {});
  await stage.pass(100);
  const foreigner = stage.runtime.supervisor('foreigner');
  return { ...stage, work, task, child, foreigner };
}

/** An error without the id that the caller gave itself. */
async function answerTo(id: string, call: (id: string) => Promise<unknown>): Promise<unknown> {
  const error = await thrown(call(id));
  if (!isOffstageError(error)) return error ?? 'ok';
  const blank = (text: string) => text.replaceAll(id, '<id>');
  return {
    code: error.code,
    message: blank(error.message),
    details: blank(JSON.stringify(error.details)),
  };
}

type Verb = (
  stage: Stage['thread'],
  id: string,
  work: ReturnType<typeof steered>,
) => Promise<unknown>;

describe('a foreign owner', () => {
  it.each<[string, Verb]>([
    ['get', (owner, id) => owner.get(id)],
    ['cancelTree', (owner, id) => owner.cancelTree(id)],
    [
      'spawn below',
      (owner, id, { definition }) => owner.spawn(definition, undefined, { parent: id }),
    ],
  ])('is answered by %s exactly as for an unknown id', async (_verb, verb) => {
    const { foreigner, work, task } = await foreignTask();
    const forTheirs = await answerTo(task.id, (id) => verb(foreigner, id, work));
    const forUnknown = await answerTo(UNKNOWN, (id) => verb(foreigner, id, work));
    expect(forTheirs).toEqual(forUnknown);
    expect(forTheirs).toMatchObject({ code: 'unknown_task' });
    expect(task.status).toBe('running');
  });

  it('is answered the same when the task is not live', async () => {
    const { foreigner, work, task, child, settle } = await foreignTask();
    await task.stop();
    await settle();
    for (const id of [task.id, child.id]) {
      expect(await answerTo(id, (each) => foreigner.get(each))).toEqual(
        await answerTo(UNKNOWN, (each) => foreigner.get(each)),
      );
    }
    const below = (id: string) => foreigner.spawn(work.definition, undefined, { parent: id });
    expect(await answerTo(task.id, below)).toEqual(await answerTo(UNKNOWN, below));
  });

  it('sees nothing of it in any list', async () => {
    const { foreigner, task } = await foreignTask();
    expect(await foreigner.list()).toEqual([]);
    expect(await foreigner.list({ parent: task.id })).toEqual([]);
    expect(await foreigner.list({ after: task.id })).toEqual([]);
    expect(await foreigner.notices.take()).toEqual([]);
  });

  it('hears nothing of it in any stream', async () => {
    const { foreigner, task, settle } = await foreignTask();
    const heard: (TaskEvent | Notice | TaskRecord)[] = [];
    foreigner.events$.subscribe((event) => heard.push(event));
    foreigner.notices.arriving$.subscribe((notice) => heard.push(notice));
    foreigner.tasks$.subscribe((list) => heard.push(...list));
    await task.send('secret');
    await task.cancel();
    await settle();
    expect(heard).toEqual([]);
  });

  it('changes nothing of it with what reaches a whole owner', async () => {
    const { foreigner, thread, task, settle } = await foreignTask();
    await foreigner.cancelAll();
    await foreigner.idle();
    const keys = (await thread.notices.take()).map(({ key }) => ({ key }));
    await foreigner.notices.acknowledge(keys);
    await settle();
    expect(task.status).toBe('running');
    expect(await thread.notices.take()).toHaveLength(keys.length);
  });

  it('is not in the way with keys and names', async () => {
    const { foreigner, work, task } = await foreignTask();
    const options = { key: 'their-key', name: 'their-name' };
    const mine = await foreigner.spawn(work.definition, undefined, options);
    expect(mine.id).not.toBe(task.id);
    expect(mine.owner).toBe('foreigner');
  });

  it('learns nothing from the store either', async () => {
    const { store, task } = await foreignTask();
    expect(await store.load('foreigner', task.id)).toBeNull();
    expect(await store.readEvents('foreigner', task.id, 0, 10)).toEqual(
      await store.readEvents('foreigner', UNKNOWN, 0, 10),
    );
    expect(await store.readOutput('foreigner', task.id, {})).toEqual(
      await store.readOutput('foreigner', UNKNOWN, {}),
    );
    await store.postCommand('foreigner', {
      id: 'c1',
      task: task.id,
      command: { type: 'CANCEL', reason: null },
    });
    expect(await store.readCommands(task.id)).toEqual([]);
  });

  it('is not reached by a tree that is not its own', async () => {
    const { runtime, foreigner, work, task, settle } = await foreignTask();
    const mine = await foreigner.spawn(work.definition);
    await task.cancel();
    await settle();
    await settleAll(runtime);
    expect(mine.status).toBe('running');
  });
});
