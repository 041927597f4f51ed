import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask } from '../../src/index.ts';
import { eventsOfType, openStage, rejection, type Stage, thrown } from './setup.ts';

/** A resumable task that keeps the inputs its bodies got. */
function crawler() {
  const inputs: unknown[] = [];
  const definition = defineTask({
    name: 'crawler',
    input: z.object({ url: z.url(), pages: z.array(z.number()) }),
    resumable: true,
    run: ({ input, signal }) => {
      inputs.push(input);
      return new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
  return { definition, inputs };
}

const GIVEN = { url: 'https://a.example', pages: [1, 2] };

async function stoppedCrawl({ thread, settle }: Stage, definition: Crawler['definition']) {
  const task = await thread.spawn(definition, GIVEN);
  await settle();
  await task.stop();
  await settle();
  return task;
}

type Crawler = ReturnType<typeof crawler>;

describe('a recipe given to resume()', () => {
  it('edits the input of the next attempt', async () => {
    const { definition, inputs } = crawler();
    const stage = await openStage({ tasks: [definition] });
    const task = await stoppedCrawl(stage, definition);
    await task.resume((draft) => {
      draft.url = 'https://b.example';
      draft.pages.push(3);
    });
    await stage.settle();
    const edited = { url: 'https://b.example', pages: [1, 2, 3] };
    expect(inputs).toEqual([GIVEN, edited]);
    expect(task.snapshot().input).toEqual(edited);
  });

  it('may give back a new input instead of editing the draft', async () => {
    const { definition, inputs } = crawler();
    const stage = await openStage({ tasks: [definition] });
    const task = await stoppedCrawl(stage, definition);
    await task.resume(() => ({ url: 'https://c.example', pages: [] }));
    await stage.settle();
    expect(inputs.at(-1)).toEqual({ url: 'https://c.example', pages: [] });
  });

  it('may replace an input that is not an object', async () => {
    const inputs: string[] = [];
    const plain = defineTask({
      name: 'plain',
      input: z.string(),
      resumable: true,
      run: async ({ input, signal }) => {
        inputs.push(input);
        if (input === 'first') {
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          throw signal.reason;
        }
        return input;
      },
    });
    const stage = await openStage({ tasks: [plain] });
    const task = await stage.thread.spawn(plain, 'first');
    await stage.settle();
    await task.stop();
    await stage.settle();
    await task.resume(() => 'second');
    expect(await task.result()).toBe('second');
    expect(inputs).toEqual(['first', 'second']);
  });

  it('leaves its patches in the resumed event as the record of the edit', async () => {
    const { definition } = crawler();
    const stage = await openStage({ tasks: [definition] });
    const task = await stoppedCrawl(stage, definition);
    await task.resume((draft) => {
      draft.pages[0] = 9;
    }, 'a typo');
    const [resumed] = await eventsOfType(stage.store, task, 'resumed');
    expect(resumed).toMatchObject({
      reason: 'a typo',
      input: {
        value: { url: 'https://a.example', pages: [9, 2] },
        patches: [{ op: 'replace', path: ['pages', 0], value: 9 }],
      },
    });
  });

  it('is refused where its edit does not fit the schema, and the task stays stopped', async () => {
    const { definition, inputs } = crawler();
    const stage = await openStage({ tasks: [definition] });
    const task = await stoppedCrawl(stage, definition);
    const resumed = task.resume((draft) => {
      draft.url = 'nowhere';
    });
    const { details } = await rejection(resumed, 'invalid_input');
    expect(details.issues.map(({ path }) => path)).toEqual(['url']);
    await stage.settle();
    expect(task.snapshot()).toMatchObject({ status: 'stopped', attempt: 1, input: GIVEN });
    expect(inputs).toHaveLength(1);
    expect(stage.runtime.counts.tasks).toBe(0);
    await task.resume();
    await stage.settle();
    expect(inputs).toEqual([GIVEN, GIVEN]);
  });

  it('that throws leaves the task stopped', async () => {
    const { definition } = crawler();
    const stage = await openStage({ tasks: [definition] });
    const task = await stoppedCrawl(stage, definition);
    const error = await thrown(
      task.resume(() => {
        throw new Error('no edit');
      }),
    );
    expect(String(error)).toContain('no edit');
    expect(task.snapshot()).toMatchObject({ status: 'stopped', attempt: 1 });
  });

  it('that is not done when it returns leaves the task stopped', async () => {
    const { definition } = crawler();
    const stage = await openStage({ tasks: [definition] });
    const task = await stoppedCrawl(stage, definition);
    const late = async (draft: { url: string }) => {
      await stage.settle();
      draft.url = 'https://example.org/late';
    };
    const resumed = task.resume(late as unknown as Parameters<typeof task.resume>[0]);
    await rejection(resumed, 'invalid_option');
    await stage.settle();
    expect(task.snapshot()).toMatchObject({ status: 'stopped', attempt: 1, input: GIVEN });
  });

  it('is refused where its edit is too large', async () => {
    const { definition } = crawler();
    const stage = await openStage({ tasks: [definition], limits: { input: 100 } });
    const task = await stoppedCrawl(stage, definition);
    const resumed = task.resume((draft) => {
      draft.pages = Array.from({ length: 100 }, (_item, index) => index);
    });
    await rejection(resumed, 'too_large');
    expect(task.snapshot()).toMatchObject({ status: 'stopped', input: GIVEN });
  });
});
