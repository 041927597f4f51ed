import { describe, expect, it } from 'vitest';
import { openStage, soon, stateOf, steered } from './setup.ts';

describe('idle()', () => {
  it('resolves at once where nothing works, and leaves no supervisor behind', async () => {
    const { runtime, thread } = await openStage();
    await soon(thread.idle());
    expect(runtime.counts.supervisors).toBe(0);
  });

  it('waits for all tasks of the owner, those of others do not count', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    await runtime.supervisor('other').spawn(work.definition);
    await soon(thread.idle());
    const tasks = [await thread.spawn(work.definition), await thread.spawn(work.definition)];
    await settle();
    const idle = thread.idle();
    work.bodies[1]?.succeed();
    await tasks[0]?.result();
    expect(await stateOf(idle)).toBe('pending');
    work.bodies[2]?.succeed();
    await soon(idle);
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  it('waits for tasks in the queue, on their way out and waiting for a restart', async () => {
    const work = steered('work', { ignoresSignal: true, restart: { minDelayMs: 100 } });
    const { thread, pass, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 1, whenFull: 'queue' },
    });
    const first = await thread.spawn(work.definition);
    const second = await thread.spawn(work.definition);
    await settle();
    const idle = thread.idle();
    await first.cancel();
    expect(await stateOf(idle)).toBe('pending');
    work.body.fail(new Error('left'));
    await settle();
    work.body.fail(new Error('again'));
    await settle();
    expect(second.snapshot().phase).toBe('retrying');
    expect(await stateOf(idle)).toBe('pending');
    await pass(100);
    work.body.succeed();
    await soon(idle);
  });

  it('does not wait for a task that waits for an answer', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const idle = thread.idle();
    expect(await stateOf(idle)).toBe('pending');
    const answered = work.body.context.requestInput({ prompt: 'well?' });
    await soon(idle);
    await soon(thread.idle());
    await task.answer(task.snapshot().requests[0]?.id ?? '', 'yes');
    await answered;
    expect(await stateOf(thread.idle())).toBe('pending');
  });

  it('does not wait for monitors', async () => {
    const monitor = steered('monitor', { kind: 'monitor' });
    const work = steered();
    const { thread, settle } = await openStage({
      tasks: [monitor.definition, work.definition],
    });
    await thread.spawn(monitor.definition);
    await soon(thread.idle());
    await thread.spawn(work.definition);
    await settle();
    const idle = thread.idle();
    expect(await stateOf(idle)).toBe('pending');
    work.body.succeed();
    await soon(idle);
  });

  it('resolves for a task that stopped', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const idle = thread.idle();
    await task.stop();
    await soon(idle);
    expect(task.status).toBe('stopped');
    expect(runtime.counts.supervisors).toBe(0);
  });

  it('resolves when the runtime is closed', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    await thread.spawn(work.definition);
    await settle();
    const idle = thread.idle();
    await soon(runtime.close());
    await soon(idle);
  });
});
