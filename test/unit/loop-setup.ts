import type { z } from 'zod';
import {
  type Approval,
  backgroundCapable,
  createLoop,
  defineTool,
  type JsonObject,
  type Loop,
  type LoopEvent,
  type LoopHost,
  type LoopOptions,
  type PendingUpdate,
  type StartOutcome,
  type Tool,
  type ToolAnswer,
  type ToolCall,
  type ToolContext,
  type Turn,
  type TurnUpdate,
} from '../../src/index.ts';
import { last, openStage, type Stage, type StageOptions, soon } from './setup.ts';

/** One run of a tool, steered by the test. */
export interface ToolRun {
  readonly args: JsonObject;
  readonly context: ToolContext;
  succeed(value?: unknown): void;
  fail(error: unknown): void;
}

interface SteeredOptions {
  readonly policy?: 'auto' | 'approval';
  readonly approvalMs?: number;
  readonly restart?: { readonly minDelayMs: number };
  readonly input?: z.ZodType<JsonObject>;
  /** The runs stay when their signal aborts. */
  readonly ignoresSignal?: boolean;
}

/** Tools whose runs wait for the test, and leave at once when their signal aborts. */
export class Workshop {
  /** All runs of all its tools, in the order of their start. */
  readonly runs: ToolRun[] = [];

  get run(): ToolRun {
    return last(this.runs);
  }

  tool(name = 'work', { ignoresSignal = false, ...options }: SteeredOptions = {}): Tool {
    return defineTool({
      name,
      description: 'For a test.',
      ...options,
      execute: (args: JsonObject, context: ToolContext) => {
        const { promise, resolve, reject } = Promise.withResolvers<unknown>();
        const { signal } = context;
        if (!ignoresSignal) signal.addEventListener('abort', () => reject(signal.reason));
        this.runs.push({
          args,
          context,
          succeed: (value = 'done') => resolve(value),
          fail: reject,
        });
        return promise;
      },
    });
  }

  /** One that runs, one that must be approved, one that the client runs, one that can be resumed. */
  all(): readonly Tool[] {
    return [
      this.tool(),
      this.tool('risky', { policy: 'approval' }),
      defineTool({ name: 'browse', description: 'For a test.', policy: 'client' }),
      backgroundCapable(this.tool('sturdy'), { resumable: true }),
    ];
  }
}

export interface LoopStage extends Stage {
  readonly loop: Loop;
  readonly host: LoopHost;
  readonly work: Workshop;
  /** What the host has seen so far. */
  readonly seen: LoopEvent[];
  /** The runs so far. */
  readonly runs: readonly ToolRun[];
}

type LoopStageOptions = Partial<LoopOptions> & { readonly stage?: StageOptions };

/** A runtime with a loop, whose events are recorded. */
export async function openLoop(options: LoopStageOptions = {}): Promise<LoopStage> {
  const { stage: stageOptions, ...loopOptions } = options;
  const stage = await openStage(stageOptions);
  const work = new Workshop();
  const loop = createLoop(stage.thread, { tools: work.all(), ...loopOptions });
  const seen: LoopEvent[] = [];
  loop.host.events$.subscribe((event) => seen.push(event));
  return { ...stage, loop, host: loop.host, work, runs: work.runs, seen };
}

export function callOf(id = 'call-1', tool = 'work', args: unknown = {}): ToolCall {
  return { id, tool, args };
}

/** The id of the task of a call that has started and has no answer yet. */
export function pendingId(outcome: StartOutcome): string {
  if (outcome.kind === 'pending' && outcome.id !== null) return outcome.id;
  throw new Error(`Not pending: ${JSON.stringify(outcome)}`);
}

/** The answer with which a call has started. */
export function readyAnswer(outcome: StartOutcome): ToolAnswer {
  if (outcome.kind === 'ready' && outcome.resolution.kind === 'answer') {
    return outcome.resolution.answer;
  }
  throw new Error(`Not answered: ${JSON.stringify(outcome)}`);
}

/** Starts a call in the background and gives the id of its task. */
export async function inBackground(
  turn: Turn,
  id = 'call-1',
  tool = 'work',
  options: Parameters<Turn['start']>[1] = {},
): Promise<string> {
  return pendingId(await turn.start(callOf(id, tool), { route: 'background', ...options }));
}

/** The updates that are queued by now. */
export async function queued(turn: Turn): Promise<readonly TurnUpdate[]> {
  const updates: TurnUpdate[] = [];
  const signal = AbortSignal.abort();
  for (;;) {
    const update = await soon(turn.next({ signal }));
    if (update === null) return updates;
    updates.push(update);
  }
}

/** The next update, which must carry the answer of a call. */
export async function nextAnswer(turn: Turn): Promise<ToolAnswer> {
  const update = await soon(turn.next());
  if (update?.kind === 'answer') return update.answer;
  throw new Error(`No answer: ${JSON.stringify(update)}`);
}

export async function nextApproval(turn: Turn): Promise<Approval> {
  const update = await soon(turn.next());
  if (update?.kind === 'approval') return update.approval;
  throw new Error(`No approval: ${JSON.stringify(update)}`);
}

export async function taken(loop: Loop): Promise<readonly PendingUpdate[]> {
  return (await loop.takePending()).updates;
}

/** The ids of the tasks of which the host has seen events of this type. */
export function seenOf(seen: readonly LoopEvent[], type: LoopEvent['type']): readonly string[] {
  return seen.flatMap((event) =>
    event.type !== type ? [] : event.type === 'continueRequested' ? event.tasks : [event.task.id],
  );
}
