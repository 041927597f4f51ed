import { describe, expect, test } from 'vitest';
import {
  backgroundCapable,
  createLoop,
  directoryArtifacts,
  type JsonObject,
  spawnBackground,
  type TaskRecord,
  type Tool,
  type ToolContext,
  type ToolHints,
  ToolRegistry,
  toolTask,
} from '../../src/index.ts';
import { sampleRecord, sampleWrite } from '../../src/testing/index.ts';
import { LEASE_MS, type Life, ORPHANED, World } from './recovery-setup.ts';
import { at, last } from './setup.ts';
import { background, scratch, text } from './spawn-background-setup.ts';

interface Run {
  readonly context: ToolContext;
  succeed(value: unknown): void;
}

/** A tool whose runs wait for the test. */
function waitingTool(hints: ToolHints = { idempotent: true }, name = 'work') {
  const runs: Run[] = [];
  const tool = background(
    (context) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const { signal } = context;
      signal.addEventListener('abort', () => reject(signal.reason));
      runs.push({ context, succeed: resolve });
      return promise;
    },
    { name, hints },
  );
  return { tool, runs };
}

interface Spawned {
  readonly task_id: string;
  readonly log_path: string;
  readonly result_path: string;
}

/** Has a model start a run of a tool in the background. */
async function spawnRun(life: Life, tool: Tool, args: JsonObject = {}): Promise<Spawned> {
  const registry = new ToolRegistry([tool]);
  registry.register(spawnBackground(registry, { artifacts: directoryArtifacts(await scratch()) }));
  const call = {
    id: 'call-1',
    tool: 'spawn_background',
    args: { tool: tool.name, args: {}, ...args },
  };
  const answer = await registry.execute(call, { thread: life.thread });
  if (answer.isError) throw new Error(`Refused: ${answer.error}`);
  return answer.result as unknown as Spawned;
}

/** A run that its runtime left behind, and a runtime that knows these tools. */
async function orphanedRun(before: Tool, tools: readonly Tool[], args: JsonObject = {}) {
  const world = new World();
  const first = await world.open();
  const spawned = await spawnRun(first, before, args);
  await world.settle();
  first.kill();
  const second = await world.open({ tasks: tools.map((tool) => toolTask(tool)) });
  await world.mourn();
  const id = spawned.task_id;
  return { world, second, spawned, id, load: () => second.load(id) };
}

async function expectStopped(
  { load, second }: { load(): Promise<TaskRecord | null>; second: Life },
  why: string,
): Promise<void> {
  const reason = `${ORPHANED}: ${why}`;
  expect(await load()).toMatchObject({ status: 'stopped', attempt: 1, request: { reason } });
  expect(await second.notices()).toMatchObject([{ kind: 'stopped', summary: reason, wake: true }]);
  await second.pass(10 * LEASE_MS);
  expect((await load())?.status).toBe('stopped');
}

describe('a run of spawn_background whose runtime has died', () => {
  test.each([{ idempotent: true }, { readonly: true }])(
    '[C-66] [C-74] is re-attached if its tool is %j',
    async (hints) => {
      const [before, now] = [waitingTool(hints), waitingTool(hints)];
      const { load, second } = await orphanedRun(before.tool, [now.tool]);
      expect(await load()).toMatchObject({ status: 'running', phase: 'working', attempt: 2 });
      expect(now.runs).toHaveLength(1);
      expect(at(now.runs, 0).context).toMatchObject({ attempt: 2, isResume: true });
      at(now.runs, 0).succeed('after all');
      await second.settle();
    },
  );

  test('[C-66] is left alone if its tool is not registered any more, until somebody recovers it', async () => {
    const [before, other] = [waitingTool(), waitingTool({ idempotent: true }, 'other')];
    const { load, second, id, world } = await orphanedRun(before.tool, [other.tool]);
    await world.pass(10 * LEASE_MS);
    expect(await load()).toMatchObject({ status: 'running', epoch: 1 });
    expect((await second.thread.recover()).map((task) => task.id)).toEqual([id]);
    expect(other.runs).toEqual([]);
    await expectStopped({ load, second }, 'no task definition "tool:work" is registered here');
  });

  test('[C-66] stays stopped if its tool does not support the background any more', async () => {
    const now = waitingTool({ idempotent: true, supportsBackground: false });
    const run = await orphanedRun(waitingTool().tool, [now.tool]);
    await expectStopped(run, 'its tool does not support the background');
    expect(now.runs).toEqual([]);
  });

  test.each([{}, { idempotent: false, readonly: false }])(
    '[C-66] [C-74] stays stopped if its tool is not harmless any more: %j',
    async (hints) => {
      const now = waitingTool(hints);
      const run = await orphanedRun(waitingTool().tool, [now.tool]);
      await expectStopped(run, 'its tool is neither idempotent nor read-only');
      expect(now.runs).toEqual([]);
    },
  );

  test('[C-66] is re-attached if its tool has become harmless, whatever it said at first', async () => {
    const [before, now] = [waitingTool({}), waitingTool()];
    const { load } = await orphanedRun(before.tool, [now.tool]);
    expect(await load()).toMatchObject({ spec: { reattachable: false }, attempt: 2 });
    expect(now.runs).toHaveLength(1);
  });

  /** The record of a run as it could be stored, with a dead holder. */
  async function storedRun(changes: Partial<TaskRecord>, now = waitingTool()) {
    const world = new World();
    const record = sampleRecord({
      owner: 'thread-1',
      definition: 'tool:work',
      kind: 'background_tool',
      resumable: false,
      spec: { tool: 'work', arguments: {}, reattachable: true },
      input: {},
      continue: 'request',
      wake: 'silent',
      holder: 'dead',
      ...changes,
    });
    await world.store.commit([sampleWrite(record)]);
    const second = await world.open({ tasks: [toolTask(now.tool)] });
    await world.settle();
    return { world, second, runs: now.runs, load: () => second.load(record.id) };
  }

  test.each<TaskRecord['spec']>([
    null,
    'work',
    [],
    {},
    { arguments: {} },
    { tool: '' },
    { tool: 7 },
    { tool: 'other' },
  ])('[C-66] stays stopped if its spec does not name the tool: %j', async (spec) => {
    const run = await storedRun({ spec });
    await expectStopped(run, 'it does not say which tool it is a run of');
    expect(run.runs).toEqual([]);
  });

  test.each([undefined, null])('[C-66] runs with {} if its args are missing: %j', async (input) => {
    const { load, runs } = await storedRun({ input, spec: { tool: 'work' } });
    expect(await load()).toMatchObject({ status: 'running', attempt: 2 });
    expect(at(runs, 0).context.call.args).toEqual({});
  });

  test('[C-67] takes its attempt from the record', async () => {
    const { load, runs } = await storedRun({ attempt: 4, epoch: 7 });
    expect(await load()).toMatchObject({ status: 'running', attempt: 5 });
    expect(at(runs, 0).context.attempt).toBe(5);
  });

  test.each([
    [undefined, true],
    [true, true],
    [false, false],
  ])('[C-67] keeps its signal choice %j', async (signal, isTold) => {
    const now = waitingTool();
    const { load, second, spawned } = await orphanedRun(
      waitingTool().tool,
      [now.tool],
      signal === undefined ? {} : { signal_on_completion: signal },
    );
    expect(await load()).toMatchObject({ attempt: 2, spec: { signal_on_completion: isTold } });
    await second.notices();
    at(now.runs, 0).succeed('done');
    await (await second.thread.get(spawned.task_id)).ended();
    const told = (await second.notices()).map(({ kind, wake }) => ({ kind, wake }));
    expect(told).toEqual(isTold ? [{ kind: 'completed', wake: true }] : []);
  });

  test('[C-67] tells of its end if its spec does not say', async () => {
    const { load, runs, second } = await storedRun({ spec: { tool: 'work' } });
    await second.notices();
    last(runs).succeed('done');
    const task = await second.thread.get((await load())?.id ?? '');
    await task.ended();
    expect(await second.notices()).toMatchObject([{ kind: 'completed', wake: true }]);
  });

  test('[C-x06] leaves its log and its result where the first answer said', async () => {
    const before = waitingTool();
    const now = waitingTool();
    const world = new World();
    const first = await world.open();
    const spawned = await spawnRun(first, before.tool);
    await world.settle();
    await at(before.runs, 0).context.output('one\n');
    await world.pass(1_000);
    first.kill();
    const second = await world.open({ tasks: [toolTask(now.tool)] });
    await world.mourn();
    await at(now.runs, 0).context.output('two\n');
    at(now.runs, 0).succeed({ pages: 2 });
    const task = await second.thread.get(spawned.task_id);
    const { status, artifacts } = await task.ended();
    expect(status).toBe('completed');
    expect(JSON.parse(await text(spawned.result_path))).toEqual({ pages: 2 });
    expect(await text(spawned.log_path)).toBe('[stdout] one\n[stdout] two\n');
    expect(artifacts.map(({ path }) => path)).toEqual([spawned.log_path, spawned.result_path]);
  });
});

describe('the task of a tool that the application registered itself', () => {
  test('[C-x16] goes on after a restart once there is a loop with the tool, and not before', async () => {
    const world = new World();
    const [before, now] = [waitingTool(), waitingTool()];
    const first = await world.open();
    const loop = createLoop(first.thread, {
      tools: [backgroundCapable(before.tool, { resumable: true })],
    });
    const turn = loop.beginTurn({ id: 'turn-1' });
    const started = await turn.start({ id: 'a', tool: 'work', args: {} }, { route: 'background' });
    const id = started.kind === 'pending' ? started.id : null;
    await world.settle();
    first.kill();
    const second = await world.open();
    await world.pass(10 * LEASE_MS);
    expect(await second.load(id ?? '')).toMatchObject({ status: 'running', attempt: 1, epoch: 1 });
    const next = createLoop(second.thread, {
      tools: [backgroundCapable(now.tool, { resumable: true })],
    });
    await world.settle();
    expect(await second.load(id ?? '')).toMatchObject({ status: 'running', attempt: 2 });
    expect(now.runs).toHaveLength(1);
    at(now.runs, 0).succeed('after all');
    await world.settle();
    const { updates } = await next.takePending();
    expect(updates).toMatchObject([{ answer: { call: 'a', result: 'after all' } }]);
  });

  test('[C-x16] goes on for the owner of that loop alone', async () => {
    const world = new World();
    const tools = () => [backgroundCapable(waitingTool().tool, { resumable: true })];
    const first = await world.open();
    for (const owner of ['a', 'b']) {
      const thread = first.runtime.supervisor(owner);
      const turn = createLoop(thread, { tools: tools() }).beginTurn();
      await turn.start({ id: owner, tool: 'work', args: {} }, { route: 'background' });
    }
    await world.settle();
    first.kill();
    const second = await world.open();
    const loop = createLoop(second.runtime.supervisor('b'), { tools: tools() });
    await world.mourn();
    const attempts = async (owner: string) =>
      (await second.store.list({ owner })).records.map(({ attempt }) => attempt);
    expect([await attempts('a'), await attempts('b')]).toEqual([[1], [2]]);
    expect(await loop.host.running()).toHaveLength(1);
  });

  test('[C-x16] goes on at the start, if the runtime was given the task of the tool', async () => {
    const now = waitingTool();
    const { load } = await orphanedRun(waitingTool().tool, [now.tool]);
    expect(await load()).toMatchObject({ status: 'running', attempt: 2 });
  });

  test('[C-x16] goes on when the tool is called again, where nothing else has told of it', async () => {
    const now = waitingTool();
    const { load, second, world } = await orphanedRun(waitingTool().tool, []);
    expect(await load()).toMatchObject({ attempt: 1, epoch: 1 });
    await spawnRun(second, now.tool);
    await world.settle();
    expect(await load()).toMatchObject({ status: 'running', attempt: 2 });
  });
});
