import type { z } from 'zod';
import {
  type BackgroundHooks,
  backgroundCapable,
  type CallScope,
  defineTool,
  type Json,
  type JsonObject,
  memoryStore,
  type Store,
  type TaskRecord,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  type ToolHints,
  toolRegistry,
  toolTask,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import {
  last,
  openStage,
  over,
  pass as passAll,
  type Stage,
  type StageOptions,
  settle as settleAll,
  turns,
} from './setup.ts';

/** One run of a tool, steered by the test. */
export interface ToolRun {
  readonly args: JsonObject;
  readonly context: ToolContext;
  succeed(value?: unknown): void;
  fail(error: unknown): void;
}

export interface SteeredTool {
  readonly tool: Tool;
  /** All runs so far, in the order of their start. */
  readonly runs: readonly ToolRun[];
  /** The run that started last. */
  readonly run: ToolRun;
}

export interface SteeredToolOptions {
  readonly input?: z.ZodType<JsonObject>;
  readonly hooks?: BackgroundHooks<JsonObject>;
  readonly hints?: ToolHints;
  readonly graceMs?: number;
  /** The runs stay when their signal aborts. */
  readonly ignoresSignal?: boolean;
}

/** A background-capable tool whose runs wait for the test, and leave at once when their signal aborts. */
export function steeredTool(options: SteeredToolOptions = {}): SteeredTool {
  const { input, hooks = {}, hints = {}, ignoresSignal = false, graceMs } = options;
  const runs: ToolRun[] = [];
  const plain = defineTool({
    name: 'work',
    description: 'For a test.',
    hints,
    ...(input && { input }),
    ...(graceMs !== undefined && { graceMs }),
    execute(args, context) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const { signal } = context;
      if (!ignoresSignal) signal.addEventListener('abort', () => reject(signal.reason));
      runs.push({ args, context, succeed: (value = null) => resolve(value), fail: reject });
      return promise;
    },
  });
  return {
    tool: backgroundCapable(plain, hooks),
    runs,
    get run() {
      return last(runs);
    },
  };
}

/** A background-capable tool that does this at once. */
export function quickTool(
  execute: (args: JsonObject, context: ToolContext) => unknown,
  hooks: BackgroundHooks<JsonObject> = {},
  input?: z.ZodType<JsonObject>,
): Tool {
  const description = 'For a test.';
  return backgroundCapable(
    defineTool({ name: 'work', description, ...(input && { input }), execute }),
    hooks,
  );
}

type Call = (args: unknown, scope?: Partial<CallScope>) => Promise<ToolAnswer>;

export interface ToolStage extends Stage {
  readonly call: Call;
  /** What is stored of a task. */
  load(id: string): Promise<TaskRecord | null>;
}

/** A runtime, and what calls the tool in it. */
export async function openTools(tool: Tool, options: StageOptions = {}): Promise<ToolStage> {
  const stage = await openStage(options);
  return { ...stage, call: callerOf(tool, stage), load: loaderOf(stage) };
}

function callerOf(tool: Tool, { thread }: Stage): Call {
  const registry = toolRegistry(tool);
  return (args, scope = {}) =>
    registry.execute({ id: 'call-1', tool: tool.name, args }, { thread, ...scope });
}

function loaderOf({ store, thread }: Stage) {
  return (id: string) => store.load(thread.owner, id);
}

/** The id of the task that a background call has started. */
export function startedBy({ task, result }: ToolAnswer): string {
  const { status } = result as { readonly status?: Json };
  if (task === null || status !== 'running_in_background') {
    throw new Error(`Not started in the background: ${JSON.stringify(result)}`);
  }
  return task;
}

/** The usual hooks of a tool whose tasks are named by `args.task_id`. */
export const byTaskId: Pick<BackgroundHooks<JsonObject>, 'idFromArgs'> = {
  idFromArgs: ({ task_id: id }) => (typeof id === 'string' ? id : null),
};

/** Lets time pass where the store fails, so that nothing comes to rest. */
export async function wait({ clock }: Pick<Stage, 'clock'>, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    await turns(6);
    clock.advance(100);
  }
  await turns(6);
}

export const LEASE_MS = 3_000;

export interface Survivors {
  /** The runtime that dies. */
  readonly first: ToolStage;
  /** The one that is there afterwards, on the same store. */
  readonly second: ToolStage;
  readonly store: Store;
  settle(): Promise<void>;
  pass(ms: number): Promise<void>;
  /** Keeps the first runtime from renewing its lease until that is over. */
  die(): Promise<void>;
}

/** Two runtimes on one store, each with a tool of its own, of which the first can die. */
export async function twoRuntimes(firstTool: Tool, secondTool = firstTool): Promise<Survivors> {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  let isDead = false;
  const mortal = over(store, {
    renew: (holder, leaseMs) =>
      isDead ? Promise.reject(new Error('cut off')) : store.renew(holder, leaseMs),
  });
  // What a call does to an orphan is seen where nothing else takes it up.
  const common = { clock, leaseMs: LEASE_MS, recovery: false as const };
  const first = await openTools(firstTool, { ...common, store: mortal });
  const second = await openTools(secondTool, { ...common, store, tasks: [toolTask(secondTool)] });
  const pass = (ms: number) => passAll(clock, ms, first.runtime, second.runtime);
  return {
    ...{ first, second, store, pass },
    settle: () => settleAll(first.runtime, second.runtime),
    die: async () => {
      isDead = true;
      await pass(2 * LEASE_MS);
    },
  };
}
