import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask } from '../../src/index.ts';
import { openStage, soon } from './setup.ts';

describe('what a body gets', () => {
  it('can be taken apart, and each part still works', async () => {
    const child = defineTask({ name: 'child', run: () => 'child' });
    const busy = defineTask({
      name: 'busy',
      input: z.object({ n: z.number() }),
      async run(context) {
        const { id, owner, input, attempt, signal, resumedFrom } = context;
        const { status, progress, output, checkpoint, step, requestInput } = context;
        const { receive, send, summary, evidence, spawn, children } = context;
        status('busy');
        progress({ current: 1 });
        evidence({ pid: 1 });
        summary('was busy');
        await output('text');
        await checkpoint('saved');
        const stepped = await step('once', () => 1);
        const answer = await requestInput({ prompt: 'well?' });
        const { content } = await receive();
        await send('out');
        const spawned = await spawn(child);
        const below = await children();
        return {
          ...{ id, owner, input, attempt, resumedFrom, stepped, answer, content },
          isAborted: signal.aborted,
          child: await spawned.result(),
          children: below.length,
        };
      },
    });
    const { thread, pass } = await openStage({ tasks: [busy, child] });
    const task = await thread.spawn(busy, { n: 1 });
    await pass(100);
    await task.answer(task.snapshot().requests[0]?.id ?? '', 'yes');
    await task.send('hello');
    expect(await soon(task.result())).toEqual({
      id: task.id,
      owner: thread.owner,
      input: { n: 1 },
      attempt: 1,
      resumedFrom: null,
      stepped: 1,
      answer: 'yes',
      content: 'hello',
      isAborted: false,
      child: 'child',
      children: 1,
    });
    expect(task.snapshot()).toMatchObject({
      statusText: 'Completed',
      progress: { current: 1 },
      checkpoint: 'saved',
      outputLength: 4,
      outcome: { summary: 'was busy' },
    });
  });

  it('has the same signal each time, also when it is first looked at after the abort', async () => {
    const release: ((value: unknown) => void)[] = [];
    const late = defineTask({
      name: 'late',
      run: async (context) => {
        await new Promise((resolve) => release.push(resolve));
        const { signal } = context;
        return [signal.aborted, signal === context.signal];
      },
    });
    const { thread, settle } = await openStage({ tasks: [late] });
    const task = await thread.spawn(late);
    await settle();
    await task.stop();
    release[0]?.(null);
    expect(await soon(task.result())).toEqual([true, true]);
  });

  it('lets a body that never looks at its signal be cancelled all the same', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const deaf = defineTask({ name: 'deaf', run: () => promise });
    const { thread, settle } = await openStage({ tasks: [deaf] });
    const task = await thread.spawn(deaf);
    await settle();
    await task.cancel();
    resolve('done');
    await settle();
    expect(task.status).toBe('cancelled');
  });
});
