import { describe, expect, it } from 'vitest';
import { defineTask, type RunContext } from '../../src/index.ts';
import { codeOf, eventsOf, openStage, soon, steered } from './setup.ts';

/** A task whose body has returned, with one of its children still running. */
async function joining() {
  const child = steered('child');
  const contexts: RunContext<undefined>[] = [];
  const parent = defineTask({
    name: 'parent',
    async run(context: RunContext<undefined>) {
      contexts.push(context);
      await context.spawn(child.definition);
      return 'done';
    },
  });
  const stage = await openStage({ tasks: [parent, child.definition] });
  const task = await stage.thread.spawn(parent);
  await stage.settle();
  expect(task.snapshot().phase).toBe('joining');
  const [context] = contexts;
  if (context === undefined) throw new Error('The body has not started.');
  return { stage, task, child, context };
}

const words: readonly [string, (context: RunContext<undefined>) => Promise<unknown>][] = [
  ['checkpoint', (context) => context.checkpoint({ late: true })],
  ['send', (context) => context.send('late')],
  ['step', (context) => context.step('late', () => 1)],
  ['output', (context) => context.output('late')],
  ['requestInput', (context) => context.requestInput({ prompt: 'Late?' })],
  ['receive', (context) => context.receive()],
];

describe('code that a body left behind', () => {
  for (const [name, say] of words) {
    it(`is told that ${name}() is not heard while the task waits for its children`, async () => {
      const { stage, task, context, child } = await joining();
      const before = await eventsOf(stage.store, task);
      expect(await codeOf(say(context))).toBe('not_working');
      await stage.pass(1_000);
      expect(await eventsOf(stage.store, task)).toEqual(before);
      child.body.succeed();
      expect(await soon(task.result())).toBe('done');
    });

    it(`is told that ${name}() is not heard once the task has ended`, async () => {
      const { stage, task, context, child } = await joining();
      child.body.succeed();
      await soon(task.result());
      await stage.settle();
      const before = await eventsOf(stage.store, task);
      expect(await codeOf(say(context))).toMatch(/^(not_working|fenced)$/);
      await stage.pass(1_000);
      expect(await eventsOf(stage.store, task)).toEqual(before);
    });
  }

  it('says nothing with words that nobody waits for', async () => {
    const { stage, task, context, child } = await joining();
    const before = await eventsOf(stage.store, task);
    context.status('late');
    context.progress({ current: 99 });
    context.evidence({ late: true });
    await stage.pass(1_000);
    expect(await eventsOf(stage.store, task)).toEqual(before);
    child.body.succeed();
    await soon(task.result());
    const after = await eventsOf(stage.store, task);
    expect(after.map(({ type }) => type)).not.toContain('status');
    expect(after.map(({ type }) => type)).not.toContain('progress');
    expect(JSON.stringify(after)).not.toContain('late');
  });

  it('starts no child', async () => {
    const { task, context, child, stage } = await joining();
    expect(await codeOf(context.spawn(child.definition))).not.toBe('ok');
    expect(await stage.thread.list()).toHaveLength(2);
    child.body.succeed();
    await soon(task.result());
    expect(await codeOf(context.spawn(child.definition))).not.toBe('ok');
  });

  it('is not handed a message that was meant for the next attempt', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const old = work.body.context;
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    await task.send('for the second');
    expect(await codeOf(old.receive())).not.toBe('ok');
    expect((await soon(work.body.context.receive())).content).toBe('for the second');
  });
});
