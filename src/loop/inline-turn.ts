import type { Json } from '../../machines/index.ts';
import { newId } from '../task/ids.ts';
import { gateOf, promptOf } from '../tools/call/call-gate.ts';
import type { Decision } from '../tools/call/decision.ts';
import { executePlain } from '../tools/call/plain-call.ts';
import { readRouteInArgs } from '../tools/call/run-in-background.ts';
import { checkArgs, readArgs } from '../tools/call/tool-args.ts';
import { readCall } from '../tools/call/tool-call.ts';
import type { Tool, ToolCall } from '../tools/definition/tool.ts';
import { reportInternalError } from '../tools/result/internal-error.ts';
import { answerOf, callConflict, refusal, type ToolAnswer } from '../tools/result/tool-answer.ts';
import { internalError, success, toolError } from '../tools/result/tool-result.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import type { Approval } from './approval.ts';
import type { InlineLoopOptions } from './inline-loop.ts';
import type { TurnRunOptions } from './run-turn.ts';
import type { Turn } from './turn.ts';
import type { Resolution, StartOutcome } from './turn-update.ts';

type Decide = InlineLoopOptions['decide'];

interface Start {
  readonly tool: string;
  readonly resolution: Promise<Resolution>;
}

/** A turn without tasks: each call is answered when it starts. */
export class InlineTurn implements Turn {
  readonly id: string;
  readonly #tools: ToolRegistry;
  readonly #decide: Decide;
  /** The same call again is no other one, and runs once. */
  readonly #starts = new Map<string, Start>();

  constructor(id: string, tools: ToolRegistry, decide: Decide) {
    this.id = id;
    this.#tools = tools;
    this.#decide = decide;
  }

  async start(call: ToolCall): Promise<StartOutcome> {
    return { kind: 'ready', resolution: await this.#start(call, this.#decide) };
  }

  async run(
    calls: readonly ToolCall[],
    { decide = this.#decide }: TurnRunOptions = {},
  ): Promise<readonly ToolAnswer[]> {
    const resolutions = await Promise.all(calls.map((call) => this.#start(call, decide)));
    const told = new Set<Resolution>();
    return calls.flatMap((call, index) => {
      const resolution = resolutions[index];
      // The same call twice is answered once.
      if (resolution === undefined || told.has(resolution)) return [];
      told.add(resolution);
      return resolution.kind === 'answer'
        ? resolution.answer
        : undecided(call, resolution.approval);
    });
  }

  async #start(given: ToolCall, decide: Decide): Promise<Resolution> {
    const read = readCall(given);
    if (read.kind === 'refused') return answer(read.answer);
    const { call } = read;
    const earlier = this.#starts.get(call.id);
    if (earlier?.tool === call.tool) return earlier.resolution;
    if (earlier) return answer(callConflict(call));
    const resolution = this.#contained(call, decide);
    this.#starts.set(call.id, { tool: call.tool, resolution });
    return resolution;
  }

  /** What the host's own functions throw is told to the host, and the call is answered. */
  async #contained(call: ToolCall, decide: Decide): Promise<Resolution> {
    try {
      return await this.#resolve(call, decide);
    } catch (error) {
      reportInternalError(this.#tools.onError, error, { tool: call.tool, call: call.id });
      return answer(answerOf(call, internalError(error)));
    }
  }

  async #resolve(call: ToolCall, decide: Decide): Promise<Resolution> {
    const tool = this.#tools.get(call.tool);
    if (tool === undefined) return answer(await executePlain(this.#tools, call));
    const read = readArgs(tool.name, call.args);
    if (read.kind === 'refused') return answer(answerOf(call, read.result));
    const routed = readRouteInArgs(tool, read.given);
    if (routed.kind === 'refused') {
      return answer(refusal(call, 'invalid_arguments', routed.message));
    }
    const stripped = { ...call, args: routed.args };
    const approval = await this.#approval(tool, stripped);
    if (approval === null) return answer(await this.#run(tool, stripped));
    if (decide === undefined) return { kind: 'approval', approval };
    return answer(await this.#follow(await decide(approval), tool, stripped));
  }

  async #approval(tool: Tool, call: ToolCall): Promise<Approval | null> {
    const checked = await checkArgs(tool, call.args);
    const gate = checked.kind === 'valid' ? gateOf(tool, checked.args) : null;
    if (gate === null || checked.kind !== 'valid') return null;
    const title = tool.title ?? tool.name;
    return {
      kind: gate,
      task: newId(),
      call: call.id,
      turn: this.id,
      tool: tool.name,
      title,
      args: checked.given,
      prompt: promptOf(gate, title),
      requestId: newId(),
      askedAt: Date.now(),
    };
  }

  async #follow(decision: Decision, tool: Tool, call: ToolCall): Promise<ToolAnswer> {
    switch (decision.kind) {
      case 'deny':
        return answerOf(
          call,
          toolError(decision.reason ?? 'The call was denied', { code: 'denied' }),
        );
      case 'result':
        return answerOf(call, success<Json>(decision.result));
      case 'approve':
        return this.#run(tool, { ...call, args: decision.args ?? call.args }, decision.pass);
    }
  }

  /** Approved by now, and without a background to go to. */
  #run(tool: Tool, call: ToolCall, decision: Json = null): Promise<ToolAnswer> {
    const plain: Tool = {
      ...tool,
      background: null,
      needsApproval: () => false,
      execute: tool.execute && ((args, context) => tool.execute?.(args, { ...context, decision })),
    };
    return executePlain(new ToolRegistry([plain], this.#tools), call);
  }

  async next(): Promise<null> {
    return null;
  }

  async detach(): Promise<boolean> {
    return false;
  }

  async interrupt(): Promise<readonly ToolAnswer[]> {
    return [];
  }

  async end(): Promise<readonly ToolAnswer[]> {
    return [];
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function answer(given: ToolAnswer): Resolution {
  return { kind: 'answer', answer: given };
}

function undecided(call: ToolCall, { kind }: Approval): ToolAnswer {
  if (kind === 'client') {
    return refusal(call, 'client_side', `Tool ${call.tool} is run by the client`);
  }
  const message = `Tool ${call.tool} must be approved first, and nobody here could`;
  return refusal(call, 'approval_required', message);
}
