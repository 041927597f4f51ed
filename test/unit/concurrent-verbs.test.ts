import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask } from '../../src/index.ts';
import { codeOf, openStage, type Stage, type Steered, soon, steered, turns } from './setup.ts';

const bad = () => {
  throw new Error('bad recipe');
};

async function stopped({ thread, settle }: Stage, work: Steered) {
  const task = await thread.spawn(work.definition);
  await settle();
  await task.stop();
  await task.ended();
  await settle();
  return task;
}

async function open(resumable: boolean, limits = {}) {
  const work = steered('work', { resumable });
  const stage = await openStage({ tasks: [work.definition], limits });
  return { work, stage, task: await stopped(stage, work) };
}

describe('a resume that is refused', () => {
  it('does not take a cancel with it that came at the same time', async () => {
    const { task, stage } = await open(false);
    const resume = codeOf(task.resume());
    const cancel = soon(task.cancel('enough'));
    expect(await resume).toBe('not_resumable');
    expect(await cancel).toBe(true);
    await stage.settle();
    expect(task.status).toBe('cancelled');
  });

  it('does not take a cancel with it, whatever number of turns lies between them', async () => {
    for (let ticks = 0; ticks < 12; ticks += 1) {
      const { task, stage } = await open(true);
      const resume = codeOf(task.resume(bad));
      for (let tick = 0; tick < ticks; tick += 1) await null;
      const cancel = soon(task.cancel());
      expect(await resume).toBe('Error: bad recipe');
      expect(await cancel).toBe(true);
      await stage.settle();
      expect(task.status).toBe('cancelled');
    }
  });

  it('does not take a good resume with it', async () => {
    for (const isFirst of [true, false]) {
      const { task, work, stage } = await open(true);
      const codes = isFirst
        ? [codeOf(task.resume(bad)), codeOf(task.resume())]
        : [codeOf(task.resume()), codeOf(task.resume(bad))].toReversed();
      expect(await Promise.all(codes)).toEqual(['Error: bad recipe', 'ok']);
      await stage.settle();
      expect(task.status).toBe('running');
      expect(work.bodies).toHaveLength(2);
      work.body.succeed('after all');
      expect(await soon(task.result())).toBe('after all');
    }
  });

  it('does not take a resume with it whose input is still being checked', async () => {
    let check = Promise.resolve();
    const input = z.number().refine(async () => {
      await check;
      return true;
    });
    const counts = defineTask({
      name: 'counts',
      input,
      resumable: true,
      run: ({ input: count, signal, attempt }) =>
        attempt > 1
          ? count
          : new Promise<number>((_, reject) => signal.addEventListener('abort', reject)),
    });
    const { thread, settle } = await openStage({ tasks: [counts] });
    const task = await thread.spawn(counts, 1);
    await settle();
    await task.stop();
    await task.ended();
    const { promise, resolve } = Promise.withResolvers<void>();
    check = promise;
    const good = codeOf(task.resume(() => 2));
    await turns(4);
    expect(await codeOf(task.resume(bad))).toBe('Error: bad recipe');
    await turns(4);
    resolve();
    expect(await good).toBe('ok');
    expect(await soon(task.result())).toBe(2);
  });

  it('leaves the place of another resume of the same task alone', async () => {
    const { task, work, stage } = await open(true, { perOwner: 1 });
    const codes = [codeOf(task.resume()), codeOf(task.resume(bad))];
    expect(await Promise.all(codes)).toEqual(['ok', 'Error: bad recipe']);
    await stage.settle();
    expect(task.status).toBe('running');
    expect(await codeOf(stage.thread.spawn(work.definition))).toBe('limit_reached');
    expect(stage.runtime.counts.tasks).toBe(1);
    work.body.succeed();
    await task.ended();
    await stage.settle();
    expect(await codeOf(stage.thread.spawn(work.definition))).toBe('ok');
  });

  it('keeps no place for itself', async () => {
    const { task, work, stage } = await open(true, { perOwner: 1 });
    expect(await codeOf(task.resume(bad))).toBe('Error: bad recipe');
    await stage.settle();
    expect(await codeOf(stage.thread.spawn(work.definition))).toBe('ok');
    expect(await codeOf(task.resume())).toBe('limit_reached');
    expect(task.status).toBe('stopped');
  });
});
