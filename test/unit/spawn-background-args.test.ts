import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  backgroundCapable,
  defineTool,
  memoryStore,
  spawnBackground,
  ToolError,
  toolRegistry,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { INTERNAL_ERROR_TEXT } from '../../src/tools/result/tool-result.ts';
import { over, soon, turns } from './setup.ts';
import { background, ended, openRuns, waiting } from './spawn-background-setup.ts';

const done = background(() => 'done');

/** Refused: nothing is stored, nothing runs, no place is taken. */
async function refusedBy(args: unknown, tools = [done]) {
  const runs = await openRuns(tools);
  const answer = await runs.call(args);
  expect(await runs.thread.list()).toEqual([]);
  expect(runs.runtime.counts.tasks).toBe(0);
  return answer;
}

describe('the arguments of spawn_background', () => {
  test.each([
    {},
    { tool: null },
    { tool: '' },
    { tool: ' \n ' },
    { tool: 7 },
    { tool: ['work'] },
    { tool: { name: 'work' } },
  ])('[C-25] must name a tool: %j', async (given) => {
    const answer = await refusedBy({ ...given, args: {} });
    expect(answer).toMatchObject({
      isError: true,
      code: 'invalid_arguments',
      error: 'Missing required parameter: tool',
    });
  });

  test('[C-25] may have space around the name of the tool', async () => {
    const { start } = await openRuns([done]);
    const run = await start('  work\t');
    expect(run.spawned.tool).toBe('work');
    expect((await ended(run)).status).toBe('completed');
  });

  test.each([{}, { args: null }, { args: [] }, { args: 'x' }, { args: 1 }, { args: true }])(
    '[C-26] must have the arguments of the tool as an object: %j',
    async (given) => {
      const answer = await refusedBy({ tool: 'work', ...given });
      expect(answer).toMatchObject({
        isError: true,
        code: 'invalid_arguments',
        error: 'Missing required parameter: args (object expected)',
      });
    },
  );

  test.each([{}, { signal_on_completion: null }, { signal_on_completion: true }])(
    '[C-27] ask for a word at the end if they do not say otherwise: %j',
    async (given) => {
      const { start, notices } = await openRuns([done]);
      const run = await start('work', given);
      expect(run.spawned.signal_on_completion).toBe(true);
      await ended(run);
      expect(await notices()).toHaveLength(1);
    },
  );

  test.each(['true', 0, 1, {}, []])(
    '[C-27] are refused where signal_on_completion is no boolean: %j',
    async (signal) => {
      const answer = await refusedBy({ tool: 'work', args: {}, signal_on_completion: signal });
      expect(answer.code).toBe('invalid_arguments');
      expect(answer.error).toContain('signal_on_completion');
    },
  );

  test('[C-34] are refused with a key that is unknown, and name it', async () => {
    const answer = await refusedBy({ tool: 'work', args: {}, timeout: 5 });
    expect(answer.code).toBe('invalid_arguments');
    expect(answer.error).toContain('timeout');
  });

  test('[C-34] are refused with an unknown key in their schedule, and name it', async () => {
    const schedule = { cron_expression: '* * * * *', every: '5m' };
    const answer = await refusedBy({ tool: 'work', args: {}, schedule });
    expect(answer.code).toBe('invalid_arguments');
    expect(answer.error).toContain('schedule.every');
  });

  test('are refused with a title that is no text, or one that nobody could show', async () => {
    const wrong = await refusedBy({ tool: 'work', args: {}, title: 5 });
    expect(wrong).toMatchObject({ code: 'invalid_arguments', error: '`title` must be a text' });
    const long = await refusedBy({ tool: 'work', args: {}, title: 'x'.repeat(10_001) });
    expect(long.error).toContain('`title`');
  });

  test('may leave everything optional out as null', async () => {
    const { start } = await openRuns([done]);
    const none = { title: null, schedule: null, signal_on_completion: null };
    expect((await ended(await start('work', none))).status).toBe('completed');
  });

  test.each([null, undefined, [], 'x', 5])('may be nonsense: %j', async (args) => {
    const answer = await refusedBy(args);
    expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
  });
});

describe('the tool that spawn_background is to run', () => {
  test('[C-28] must be registered', async () => {
    const answer = await refusedBy({ tool: 'other', args: {} });
    expect(answer).toMatchObject({ isError: true, error: 'Unknown tool: other' });
  });

  test('[C-28] cannot be spawn_background', async () => {
    const answer = await refusedBy({ tool: ' spawn_background ', args: {} });
    expect(answer).toMatchObject({
      isError: true,
      error: 'spawn_background cannot target itself recursively',
    });
  });

  test.each([undefined, false])('[C-29] must support it: the hint is %j', async (hint) => {
    const hints = hint === undefined ? {} : { supportsBackground: hint };
    const tool = defineTool({ name: 'plain', description: 'x', hints, execute: () => 1 });
    const answer = await refusedBy({ tool: 'plain', args: {} }, [tool]);
    expect(answer).toMatchObject({
      isError: true,
      error: 'Tool does not support background execution: plain',
    });
  });

  test('[C-29] must have something to run', async () => {
    const tool = { ...done, name: 'hollow', execute: null };
    const answer = await refusedBy({ tool: 'hollow', args: {} }, [tool]);
    expect(answer).toMatchObject({
      isError: true,
      error: 'Tool declared background support but has no background executor: hollow',
    });
  });

  test('[C-84] is never run by the runtime where that is up to the client', async () => {
    const hints = { supportsBackground: true };
    const tool = defineTool({ name: 'dialog', description: 'x', hints, policy: 'client' });
    const answer = await refusedBy({ tool: 'dialog', args: {} }, [tool]);
    expect(answer).toMatchObject({ isError: true, code: 'no_executor' });
    // Not even one that has something to run by mistake.
    const odd = { ...background(() => expect.unreachable()), policy: 'client' as const };
    const second = await refusedBy({ tool: 'work', args: {} }, [odd]);
    expect(second).toMatchObject({ isError: true, code: 'no_executor' });
  });

  test('gets its own arguments checked, by its own schema', async () => {
    const tool = defineTool({
      name: 'crawl',
      description: 'x',
      input: z.object({ url: z.string() }),
      hints: { supportsBackground: true },
      execute: ({ url }) => url,
    });
    const answer = await refusedBy({ tool: 'crawl', args: { url: 5 } }, [tool]);
    expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(answer.error).toContain('url');
  });

  test('may refuse, or change its arguments, before anything is stored', async () => {
    const seen: unknown[] = [];
    const tool = backgroundCapable(
      defineTool({
        name: 'crawl',
        description: 'x',
        hints: { supportsBackground: true },
        execute: (args, { prepared }) => void seen.push([args, prepared]),
      }),
      {
        prepare(args) {
          if (args.bad) throw new ToolError('Not that one', { code: 'no_way' });
          return { args: { ...args, more: 1 }, prepared: 'kept' };
        },
      },
    );
    const refused = await refusedBy({ tool: 'crawl', args: { bad: true } }, [tool]);
    expect(refused).toMatchObject({ code: 'no_way', error: 'Not that one' });
    const { start } = await openRuns([tool]);
    const run = await start('crawl', { args: { run_in_background: true } });
    await ended(run);
    expect(seen).toEqual([[{ more: 1, task_id: run.task.id }, 'kept']]);
  });
});

describe('the checks of spawn_background', () => {
  // Each call has one fault more than the one before it: always the first in the order is reported.
  const faults: readonly (readonly [string, object, string])[] = [
    ['executor', { tool: 'hollow' }, 'no background executor'],
    ['support', { tool: 'plain' }, 'does not support'],
    ['itself', { tool: 'spawn_background' }, 'recursively'],
    ['unknown', { tool: 'other' }, 'Unknown tool'],
    ['schedule', { schedule: { cron_expression: '* * * * *' } }, 'chedule'],
    ['flags', { signal_on_completion: 'yes' }, 'signal_on_completion'],
    ['args', { args: 'none' }, 'Missing required parameter: args'],
    ['tool', { tool: '' }, 'Missing required parameter: tool'],
  ];
  const tools = [
    done,
    defineTool({ name: 'plain', description: 'x', execute: () => 1 }),
    { ...done, name: 'hollow', execute: null },
  ];

  test.each(faults.map(([name], index) => [name, index] as const))(
    '[C-31] report only the first fault: %s',
    async (_, index) => {
      const given = faults.slice(0, index + 1).map(([, args]) => args);
      const answer = await refusedBy(Object.assign({ args: {} }, ...given), tools);
      expect(answer.error).toContain(faults[index]?.[2]);
    },
  );

  test.each(['tool', 'args', 'flags', 'schedule', 'unknown', 'itself', 'support', 'executor'])(
    '[C-31] come before the limits: %s',
    async (name) => {
      const wait = waiting();
      const { call, start } = await openRuns([...tools, wait.tool], { limits: { perOwner: 1 } });
      await start('wait');
      const [, args, message] = faults.find(([fault]) => fault === name) ?? [];
      const answer = await call({ tool: 'work', args: {}, ...args });
      expect(answer.error).toContain(message);
      expect((await call({ tool: 'work', args: {} })).code).toBe('limit_reached');
    },
  );

  test('[C-31] look at the limit of the runtime before that of the owner', async () => {
    const wait = waiting();
    const limits = { perOwner: 1, perRuntime: 1 };
    const { call, start } = await openRuns([wait.tool], { limits });
    await start('wait');
    const answer = await call({ tool: 'wait', args: {} });
    expect(answer.error).toMatch(/^The runtime already has 1/);
  });

  test('[C-32] of a call with a schedule come before the run limits, and take no place', async () => {
    const wait = waiting();
    const { call, start } = await openRuns([wait.tool], { limits: { perOwner: 2 } });
    const first = await start('wait');
    const schedule = { cron_expression: '0 9 * * *' };
    for (let count = 0; count < 3; count += 1) await call({ tool: 'wait', args: {}, schedule });
    await start('wait');
    const scheduled = await call({ tool: 'wait', args: {}, schedule });
    expect(scheduled).toMatchObject({ code: 'invalid_arguments' });
    expect(scheduled.error).toContain('not available');
    expect((await call({ tool: 'wait', args: {} })).code).toBe('limit_reached');
    expect(first.task.status).toBe('running');
  });
});

describe('a run that cannot be stored', () => {
  test('[C-33] shows the model a general error, starts nothing and takes no place', async () => {
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    let isBroken = true;
    const store = over(inner, {
      async commit(writes) {
        if (isBroken) throw new Error('disk on fire at db-7');
        return inner.commit(writes);
      },
    });
    const wait = waiting();
    const options = { clock, store, limits: { perOwner: 1, perRuntime: 1 } };
    const { call, start, settle, errors, runtime } = await openRuns([wait.tool], options);
    const answering = call({ tool: 'wait', args: {} });
    for (let ms = 0; ms < 60_000; ms += 500) {
      await turns(4);
      clock.advance(500);
    }
    const answer = await soon(answering);
    expect(answer).toMatchObject({ isError: true, error: INTERNAL_ERROR_TEXT });
    expect(JSON.stringify(answer)).not.toMatch(/db-7|store/);
    expect(errors.length).toBeGreaterThan(0);
    expect(wait.contexts).toEqual([]);
    expect(runtime.counts.tasks).toBe(0);
    isBroken = false;
    await start('wait');
    await settle();
    expect(wait.contexts).toHaveLength(1);
  });

  test('offers the names of the tools that it can start', () => {
    const nap = defineTool({
      name: 'nap',
      description: 'Sleeps.',
      hints: { supportsBackground: true },
      execute: () => null,
    });
    const other = defineTool({ name: 'other', description: 'Works.', execute: () => null });
    const tools = toolRegistry(nap, other);
    tools.register(spawnBackground(tools));
    const offered = tools.definitions().find(({ name }) => name === 'spawn_background');
    expect(offered?.parameters.properties).toMatchObject({ tool: { enum: ['nap'] } });
  });
});
