import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Store,
  spawnBackground,
  type Tool,
  type ToolAnswer,
  ToolRegistry,
  taskTools,
} from '../../src/index.ts';
import { echoTool } from '../../src/testing/index.ts';
import { fuzzedArguments, hugeArguments } from './fuzzed-arguments.ts';
import { at, openStage, over, steered } from './setup.ts';
import { askLater, callTool } from './task-tools-setup.ts';

const RUNS = 10_000;

/** Every tool that must stand the test. */
const TOOLS: readonly Tool[] = [...taskTools(), spawnBackground(new ToolRegistry([echoTool]))];

const OWNERS = ['thread-1', 'thread-2'] as const;

/** All that a store has of the owners. */
async function contentsOf(store: Store): Promise<unknown> {
  const { records } = await store.list({});
  const tasks = await Promise.all(
    records.map(async (record) => ({
      record,
      events: await store.readEvents(record.owner, record.id, 0, 10_000),
      output: await store.readOutput(record.owner, record.id, {}),
      commands: await store.readCommands(record.id),
    })),
  );
  const taking = OWNERS.map((owner) =>
    store.takeNotices(owner, 'test', { limit: 1_000, forMs: 0 }),
  );
  return structuredClone({ tasks, notices: await Promise.all(taking) });
}

/** A thread with a task in every state, and a store that tells when it is asked to change. */
async function openLived() {
  const work = steered('work', { resumable: true });
  const stage = await openStage({ tasks: [work.definition], limits: { perOwner: 10 } });
  const ids = ['working', 'asking', 'completed', 'failed', 'cancelled', 'stopped'];
  for (const id of ids) await stage.thread.spawn(work.definition, undefined, { id });
  const foreign = stage.runtime.supervisor(OWNERS[1]);
  await foreign.spawn(work.definition, undefined, { id: 'foreign' });
  await stage.settle();
  void askLater(bodyOf('asking').context, { prompt: 'Well?' });
  await bodyOf('working').context.output('some output');
  bodyOf('completed').succeed({ pages: 3 });
  bodyOf('failed').fail(new Error('broken'));
  await (await stage.thread.get('cancelled')).cancel();
  await (await stage.thread.get('stopped')).stop();
  await stage.pass(100);
  return { ...stage, ids, registry: new ToolRegistry(TOOLS) };

  function bodyOf(id: string) {
    const body = work.bodies.find(({ context }) => context.id === id);
    if (body === undefined) throw new Error(`No body of ${id}.`);
    return body;
  }
}

const CODES: ReadonlySet<string | null> = new Set([
  'invalid_arguments',
  'invalid_state',
  'no_such_request',
  'tool_not_found',
  'unknown_task',
]);

/** An error that says what is wrong, or an answer. */
function expectTyped(answer: ToolAnswer, tool: Tool): void {
  expect(answer.tool).toBe(tool.name);
  expect(JSON.stringify(answer).length).toBeLessThan(100_000);
  if (!answer.isError) {
    expect(answer).toMatchObject({ code: null, error: null });
    return;
  }
  expect(CODES).toContain(answer.code);
  expect(answer.result).toEqual({ error: answer.error, code: answer.code });
  expect(answer.error?.length).toBeLessThan(6_000);
}

// Waits must not last: what they answer then is as good.
const signal = AbortSignal.abort();

describe('tools that are given anything', () => {
  test(`answer ${RUNS} wrong calls with what is wrong, and leave no trace in the store`, async () => {
    const { thread, store, registry, errors, settle } = await openLived();
    const before = await contentsOf(store);
    const call = fc
      .constantFrom(...TOOLS)
      .chain((tool) => fuzzedArguments(tool).map((args) => ({ tool, args })));
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(call, async ({ tool, args }) => {
        const answer = await callTool(registry, thread, tool.name, args, { signal });
        expectTyped(answer, tool);
        if (answer.isError) refused += 1;
      }),
      { numRuns: RUNS },
    );
    await settle();
    expect(await contentsOf(store)).toEqual(before);
    expect(errors).toHaveLength(1);
    expect(refused).toBeGreaterThan(RUNS / 2);
    expect(Object.prototype).not.toHaveProperty('isAdmin');
  });

  test('leave no trace where the task is real and the rest is wrong', async () => {
    const { thread, store, registry, ids, settle } = await openLived();
    const before = await contentsOf(store);
    const call = fc
      .tuple(fc.constantFrom(...TOOLS), fc.constantFrom(...ids, 'foreign'))
      .chain(([tool, id]) =>
        fuzzedArguments(tool).map((args) => ({
          tool,
          args: { ...plain(args), task_id: id, task_ids: [id], after: id, no_such_key: 1 },
        })),
      );
    await fc.assert(
      fc.asyncProperty(call, async ({ tool, args }) => {
        const answer = await callTool(registry, thread, tool.name, args, { signal });
        expect(answer.code).toBe('invalid_arguments');
      }),
      { numRuns: 1_000 },
    );
    await settle();
    expect(await contentsOf(store)).toEqual(before);
  });

  test('answer about real tasks, and leave no trace by reading', async () => {
    const { thread, store, registry, ids, settle } = await openLived();
    const before = await contentsOf(store);
    const readers = TOOLS.filter(({ hints }) => hints.readonly === true);
    expect(readers.map(({ name }) => name)).toContain('task_output');
    const call = fc
      .tuple(fc.constantFrom(...readers), fc.constantFrom(...ids, 'foreign'))
      .chain(([tool, id]) =>
        fuzzedArguments(tool).map((args) => {
          const own = Object.keys(tool.parameters.properties ?? {});
          const real = { task_id: id, task_ids: [id], after: id };
          const kept = Object.entries(real).filter(([key]) => own.includes(key));
          return { tool, args: { ...plain(args), ...Object.fromEntries(kept) } };
        }),
      );
    await fc.assert(
      fc.asyncProperty(call, async ({ tool, args }) => {
        expectTyped(await callTool(registry, thread, tool.name, args, { signal }), tool);
      }),
      { numRuns: 2_000 },
    );
    await settle();
    expect(await contentsOf(store)).toEqual(before);
  });

  test('answer 10 MB as they answer anything else', async () => {
    const { thread, store, registry } = await openLived();
    const before = await contentsOf(store);
    // One sort for each tool: every sort meets several tools.
    for (const [index, tool] of TOOLS.entries()) {
      const args = at(hugeArguments(tool), index % 3);
      expectTyped(await callTool(registry, thread, tool.name, args, { signal }), tool);
    }
    expect(await contentsOf(store)).toEqual(before);
  });

  test('do not so much as ask the store for what cannot be an id', async () => {
    const { store, thread, registry, clock } = await openLived();
    const asked: string[] = [];
    const other = await openStage({
      clock,
      store: over(store, {
        load: (owner, id) => {
          asked.push(id);
          return store.load(owner, id);
        },
      }),
    });
    const own = other.runtime.supervisor(thread.owner);
    for (const task_id of ['a b', 'x'.repeat(201), '\u0000', '<task>']) {
      const answer = await callTool(registry, own, 'task_status', { task_id });
      expect(answer.code).toBe('unknown_task');
    }
    expect(asked).toEqual([]);
  });
});

/** The own entries of what can be read safely. */
function plain(args: unknown): object {
  try {
    return { ...(JSON.parse(JSON.stringify(args) ?? 'null') as object | null) };
  } catch {
    return {};
  }
}
