import { EMPTY } from 'rxjs';
import type { Json } from '../../machines/index.ts';
import { unknownTask } from '../task/errors.ts';
import { checkId, newId } from '../task/ids.ts';
import type { Decision } from '../tools/call/decision.ts';
import type { Tool } from '../tools/definition/tool.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import type { Approval } from './approval.ts';
import type { Approvals } from './approvals.ts';
import type { PendingBatch } from './delivery.ts';
import { InlineTurn } from './inline-turn.ts';
import type { Loop, TurnOptions } from './loop.ts';
import type { LoopHost } from './loop-host.ts';

/** What {@link createInlineLoop} takes. */
export interface InlineLoopOptions {
  readonly tools: ToolRegistry | Iterable<Tool>;
  /** Decides on calls that need approval. Without it such a call is answered by its approval alone. */
  readonly decide?: (approval: Approval) => Decision | Promise<Decision>;
}

const NOTHING: PendingBatch = { updates: [], text: '', acknowledge: async () => {} };

/**
 * A loop with the same interface and without a runtime, for tests and scripts: each call runs at
 * once and is answered when it is done. There are no tasks, so there is nothing to wait for, to
 * cancel or to be told of later.
 *
 * @example
 * ```ts
 * import { createInlineLoop, defineTool } from 'offstage';
 *
 * const ping = defineTool({ name: 'ping', description: 'Answers.', execute: () => 'pong' });
 * const loop = createInlineLoop({ tools: [ping] });
 * const [answer] = await loop.beginTurn().run([{ id: 'call-1', tool: 'ping', args: {} }]);
 * answer?.result; // 'pong'
 * ```
 */
export function createInlineLoop({ tools: given, decide }: InlineLoopOptions): Loop {
  const tools = given instanceof ToolRegistry ? given : new ToolRegistry(given);
  return {
    tools,
    definitions: () => tools.definitions(),
    beginTurn: ({ id }: TurnOptions = {}) =>
      new InlineTurn(id === undefined ? newId() : checkId('id', id), tools, decide),
    takePending: async () => NOTHING,
    whenPending: async () => null,
    continueRequested$: EMPTY,
    reminder: async () => null,
    state: async () => 'idle',
    approvals: NO_APPROVALS,
    host: NO_HOST,
  };
}

async function notFound(task: string): Promise<never> {
  throw unknownTask(task);
}

async function none(): Promise<readonly never[]> {
  return [];
}

const NO_APPROVALS: Approvals = {
  pending: none,
  cancelAll: none,
  approve: (id: string) => notFound(id),
  deny: (id: string) => notFound(id),
  resolve: (id: string, _result: Json) => notFound(id),
  decide: (id: string) => notFound(id),
  cancel: (id: string) => notFound(id),
};

const NO_HOST: LoopHost = {
  events$: EMPTY,
  running: none,
  finished: none,
  drain: none,
  idle: async () => {},
  cancel: (task: string) => notFound(task),
  setDelivery: (task: string) => notFound(task),
  setContinue: (task: string) => notFound(task),
};
