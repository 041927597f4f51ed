import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask } from '../../src/index.ts';
import { codeOf, openStage, rejection, soon, steered } from './setup.ts';

const crawl = defineTask({
  name: 'crawl',
  input: z.object({ url: z.url(), depth: z.object({ levels: z.array(z.number()) }).optional() }),
  run: ({ input }) => input.url,
});

/** A schema that answers when the test says so. */
function slowSchema() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const schema = z.object({ n: z.number() }).refine(async ({ n }) => {
    await promise;
    return n > 0;
  }, 'must be positive');
  return { schema, answer: resolve };
}

describe('the input of a task', () => {
  it('is refused with the path and message of every issue', async () => {
    const { thread } = await openStage({ tasks: [crawl] });
    const wrong = { url: 'nowhere', depth: { levels: [1, 'two'] } } as unknown as { url: string };
    const { details, message } = await rejection(thread.spawn(crawl, wrong), 'invalid_input');
    expect(details.issues.map(({ path }) => path).sort()).toEqual(['depth.levels.1', 'url']);
    expect(details.issues.every((issue) => issue.message.length > 0)).toBe(true);
    expect(message).toContain('url');
  });

  it('leaves nothing behind when it is refused: no record, no event, no place', async () => {
    const { runtime, thread } = await openStage({ tasks: [crawl], limits: { perOwner: 1 } });
    const seen: string[] = [];
    runtime.events$.subscribe(({ type }) => seen.push(type));
    for (let count = 0; count < 3; count += 1) {
      await rejection(thread.spawn(crawl, { url: 'nowhere' }), 'invalid_input');
    }
    expect(await thread.list()).toEqual([]);
    expect(seen).toEqual([]);
    expect(runtime.counts).toEqual({ tasks: 0, supervisors: 0, timers: 0, abandoned: 0 });
    const task = await thread.spawn(crawl, { url: 'https://example.org' });
    expect(await task.result()).toBe('https://example.org');
  });

  it('may be checked by an asynchronous schema, and nothing is stored before it answered', async () => {
    const { schema, answer } = slowSchema();
    const checked = defineTask({ name: 'checked', input: schema, run: ({ input }) => input.n });
    const { thread, settle } = await openStage({ tasks: [checked] });
    const spawned = thread.spawn(checked, { n: 7 });
    await settle();
    expect(await thread.list()).toEqual([]);
    answer();
    expect(await (await spawned).result()).toBe(7);
  });

  it('is refused by an asynchronous schema as by any other', async () => {
    const { schema, answer } = slowSchema();
    const checked = defineTask({ name: 'checked', input: schema, run: () => null });
    const { runtime, thread } = await openStage({ tasks: [checked] });
    const spawned = thread.spawn(checked, { n: -1 });
    answer();
    const { details } = await rejection(spawned, 'invalid_input');
    expect(details.issues).toEqual([{ path: '', message: 'must be positive' }]);
    expect(await thread.list()).toEqual([]);
    expect(runtime.counts.tasks).toBe(0);
  });

  it('reaches the body as the schema gives it, and is stored as it was given', async () => {
    const later = defineTask({
      name: 'later',
      input: z.object({ at: z.string().transform(Number), times: z.number().default(2) }),
      run: ({ input }) => input,
    });
    const { thread } = await openStage({ tasks: [later] });
    const task = await thread.spawn(later, { at: '41' });
    expect(await task.result()).toEqual({ at: 41, times: 2 });
    expect(task.snapshot().input).toEqual({ at: '41' });
  });

  it.each([
    ['a value', z.string().nullable()],
    ['nothing at all', z.null()],
  ])('may be null where the schema takes null or %s', async (_what, schema) => {
    const nullable = defineTask({ name: 'nullable', input: schema, run: ({ input }) => [input] });
    const { thread } = await openStage({ tasks: [nullable] });
    const task = await thread.spawn(nullable, null);
    expect(await task.result()).toEqual([null]);
  });

  it.each([
    ['a function', () => {}],
    ['a bigint', { size: 1n }],
    ['a symbol', Symbol('s')],
  ])('is refused where it is %s, which JSON cannot keep', async (_what, input: unknown) => {
    const loose = defineTask({ name: 'loose', input: z.unknown(), run: () => null });
    const { runtime, thread } = await openStage({ tasks: [loose] });
    await rejection(thread.spawn(loose, input), 'not_serialisable');
    expect(await thread.list()).toEqual([]);
    expect(runtime.counts.tasks).toBe(0);
  });

  it('is refused where it refers to itself', async () => {
    const loose = defineTask({ name: 'loose', input: z.unknown(), run: () => null });
    const { thread } = await openStage({ tasks: [loose] });
    const round: Record<string, unknown> = {};
    round.self = round;
    await rejection(thread.spawn(loose, round), 'not_serialisable');
  });

  it('is refused at once where it fits its schema only before it became JSON', async () => {
    const dated = defineTask({ name: 'dated', input: z.object({ on: z.date() }), run: () => null });
    const { thread } = await openStage({ tasks: [dated] });
    await rejection(thread.spawn(dated, { on: new Date(0) }), 'invalid_input');
    expect(await thread.list()).toEqual([]);
  });

  it('is refused with its size and the limit where it is too large', async () => {
    const loose = defineTask({ name: 'loose', input: z.unknown(), run: () => null });
    const { runtime, thread } = await openStage({ tasks: [loose], limits: { input: 100 } });
    const { details } = await rejection(thread.spawn(loose, 'x'.repeat(99)), 'too_large');
    expect(details).toMatchObject({ size: 101, limit: 100 });
    expect(runtime.counts.tasks).toBe(0);
    expect(await codeOf(thread.spawn(loose, 'x'.repeat(98)))).toBe('ok');
  });

  it('does not change when the caller changes its object after the spawn', async () => {
    const copies = defineTask({
      name: 'copies',
      input: z.object({ list: z.array(z.number()) }),
      run: ({ input }) => input.list,
    });
    const { thread } = await openStage({ tasks: [copies] });
    const input = { list: [1] };
    const spawned = thread.spawn(copies, input);
    input.list.push(2);
    const task = await spawned;
    input.list.push(3);
    expect(task.snapshot().input).toEqual({ list: [1] });
    expect(await task.result()).toEqual([1]);
  });

  it('does not change when the caller changes it while an asynchronous schema checks it', async () => {
    const { schema, answer } = slowSchema();
    const checked = defineTask({ name: 'checked', input: schema, run: ({ input }) => input.n });
    const { thread, settle } = await openStage({ tasks: [checked] });
    const input = { n: 7 };
    const spawned = thread.spawn(checked, input);
    await settle();
    input.n = -1;
    answer();
    const task = await soon(spawned);
    expect(task.snapshot().input).toEqual({ n: 7 });
  });

  it('does not change when a body changes its own', async () => {
    const loose = defineTask({
      name: 'loose',
      input: z.custom<{ list: number[] }>(),
      run: ({ input }) => {
        input.list.push(2);
        return input.list;
      },
    });
    const { thread } = await openStage({ tasks: [loose] });
    const task = await thread.spawn(loose, { list: [1] });
    expect(await task.result()).toEqual([1, 2]);
    expect(task.snapshot().input).toEqual({ list: [1] });
  });
});

describe('a definition', () => {
  it('must be registered before it can be spawned', async () => {
    const { runtime, thread } = await openStage();
    const { details } = await rejection(
      thread.spawn(crawl, { url: 'https://example.org' }),
      'unknown_definition',
    );
    expect(details).toEqual({ name: 'crawl' });
    runtime.register(crawl);
    expect(await codeOf(thread.spawn(crawl, { url: 'https://example.org' }))).toBe('ok');
  });

  it('is not another one that has the same name', async () => {
    const mine = steered('same');
    const other = steered('same');
    const { runtime, thread } = await openStage({ tasks: [mine.definition] });
    await rejection(thread.spawn(other.definition), 'unknown_definition');
    expect(() => runtime.register(other.definition)).toThrow(/same/);
  });
});
