import type { Json } from '../../machines/index.ts';
import { newId } from '../task/ids.ts';
import { gateOf } from '../tools/call-gate.ts';
import type { Decision } from '../tools/decision.ts';
import { executePlain } from '../tools/plain-call.ts';
import { readRouteInArgs } from '../tools/run-in-background.ts';
import type { Tool, ToolCall } from '../tools/tool.ts';
import { answerOf, type ToolAnswer } from '../tools/tool-answer.ts';
import { checkArgs } from '../tools/tool-args.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { success, toolError } from '../tools/tool-result.ts';
import type { Approval } from './approval.ts';
import type { InlineLoopOptions } from './inline-loop.ts';
import type { Turn } from './turn.ts';
import type { Resolution, StartOutcome } from './turn-update.ts';

/** A turn without tasks: each call is answered when it starts. */
export class InlineTurn implements Turn {
  readonly id: string;
  readonly #tools: ToolRegistry;
  readonly #decide: InlineLoopOptions['decide'];

  constructor(id: string, tools: ToolRegistry, decide: InlineLoopOptions['decide']) {
    this.id = id;
    this.#tools = tools;
    this.#decide = decide;
  }

  async start(call: ToolCall): Promise<StartOutcome> {
    return { kind: 'ready', resolution: await this.#resolve(call) };
  }

  async run(calls: readonly ToolCall[]): Promise<readonly ToolAnswer[]> {
    const resolutions = await Promise.all(calls.map((call) => this.#resolve(call)));
    return resolutions.flatMap((each) => (each.kind === 'answer' ? [each.answer] : []));
  }

  async #resolve(call: ToolCall): Promise<Resolution> {
    const tool = this.#tools.get(call.tool);
    if (tool === undefined) return answer(await executePlain(this.#tools, call));
    const { args } = { args: call.args, ...readRouteInArgs(tool, call.args) };
    const stripped = { ...call, args };
    const approval = await this.#approval(tool, stripped);
    if (approval === null) return answer(await this.#run(tool, stripped));
    if (this.#decide === undefined) return { kind: 'approval', approval };
    return answer(await this.#follow(await this.#decide(approval), tool, stripped));
  }

  async #approval(tool: Tool, call: ToolCall): Promise<Approval | null> {
    const checked = await checkArgs(tool, call.args);
    const gate = checked.kind === 'valid' ? gateOf(tool, checked.args) : null;
    if (gate === null || checked.kind !== 'valid') return null;
    const { name, title } = tool;
    return {
      kind: gate,
      task: newId(),
      call: call.id,
      turn: this.id,
      tool: name,
      title: title ?? name,
      args: checked.given,
      prompt: `Approve ${title ?? name}?`,
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
        return this.#run(tool, { ...call, args: decision.args ?? call.args });
    }
  }

  /** Approved by now, and without a background to go to. */
  #run(tool: Tool, call: ToolCall): Promise<ToolAnswer> {
    const plain = { ...tool, background: null, needsApproval: () => false };
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
