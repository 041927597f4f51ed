import type { Subscription } from 'rxjs';
import type { Json } from '../../machines/index.ts';
import type { Engine } from '../runtime/engine.ts';
import { resume } from '../runtime/resume.ts';
import { engineBehind, type Supervisor } from '../runtime/supervisor.ts';
import { isOffstageError, isRefusal, OffstageError, refused, unknownTask } from '../task/errors.ts';
import type { TaskHandle } from '../task/handle.ts';
import { toJson } from '../task/json.ts';
import { parse } from '../task/schema.ts';
import { isUndecided } from '../tools/call/call-gate.ts';
import { type Decision, decisionSchema } from '../tools/call/decision.ts';
import { checkArgs } from '../tools/call/tool-args.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { type Approval, approvalsOf, dormantApprovalOf, type OpenApproval } from './approval.ts';
import { type ArgsRecipe, approveEdited } from './approve-edited.ts';

/** How a call is approved. */
export interface ApproveOptions {
  /** Changes a draft of the arguments, or gives new ones back; they are checked again. */
  readonly edit?: ArgsRecipe;
  /** Passed to the tool as `context.decision`. */
  readonly pass?: Json;
}

/**
 * The calls of an owner that wait for somebody. Each is named by the id of its task or of its call,
 * and can be decided from anywhere, also after a restart. All but `pending` and `cancelAll` throw
 * `unknown_task` for what never was, and `no_such_request` for what no longer waits.
 */
export interface Approvals {
  /** Those that wait now, oldest first. */
  pending(): Promise<readonly Approval[]>;
  /** Lets a call run, with its arguments as `edit` leaves them. */
  approve(id: string, options?: ApproveOptions): Promise<void>;
  /** Does not let a call run; the reason becomes its answer. */
  deny(id: string, reason?: string): Promise<void>;
  /** Answers a call with this result instead of running it: also that of a call that the client ran. */
  resolve(id: string, result: Json): Promise<void>;
  /** Any of the three, as data. */
  decide(id: string, decision: Decision): Promise<void>;
  /** Cancels a call that waits; it is answered as cancelled. */
  cancel(id: string, reason?: string): Promise<void>;
  /** Cancels all calls that wait. Gives back which. */
  cancelAll(reason?: string): Promise<readonly Approval[]>;
}

/** The approvals of tasks. */
export class TaskApprovals implements Approvals {
  readonly #thread: Supervisor;
  readonly #engine: Engine;
  readonly #tools: ToolRegistry;

  constructor(thread: Supervisor, tools: ToolRegistry) {
    this.#thread = thread;
    this.#engine = engineBehind(thread);
    this.#tools = tools;
  }

  async pending(): Promise<readonly Approval[]> {
    const tasks = await this.#thread.list({ statuses: ['running', 'stopped'] });
    return tasks.flatMap((task) => {
      const record = task.snapshot();
      return dormantApprovalOf(record) ?? approvalsOf(record);
    });
  }

  async approve(id: string, { edit, pass }: ApproveOptions = {}): Promise<void> {
    const task = await this.#find(id);
    const args = task.snapshot().input ?? {};
    const decision = edit ? approveEdited({ args }, edit) : ({ kind: 'approve' } as const);
    await this.#decide(task, pass === undefined ? decision : { ...decision, pass });
  }

  async deny(id: string, reason?: string): Promise<void> {
    await this.decide(id, { kind: 'deny', reason: reason ?? null });
  }

  async resolve(id: string, result: Json): Promise<void> {
    await this.decide(id, { kind: 'result', result });
  }

  async decide(id: string, decision: Decision): Promise<void> {
    await this.#decide(await this.#find(id), decision);
  }

  async #decide(task: TaskHandle, given: Decision): Promise<void> {
    // Here already: what another runtime asks, it cannot check before it is stored.
    const data = toJson('The decision', given, this.#engine.limits.event);
    const decision = (await parse(
      decisionSchema,
      data,
      'invalid_input',
      'The decision',
    )) as Decision;
    if (decision.kind === 'approve' && decision.args !== undefined) {
      await this.#check(task, decision.args);
    }
    const { requestId, kind } = await this.#open(task);
    if (kind === 'client' && decision.kind === 'approve') {
      throw invalidInput('A call that the client runs is resolved with its result, or denied.');
    }
    await task.answer(requestId, data);
  }

  async cancel(id: string, reason = 'the approval was cancelled'): Promise<void> {
    await (await this.#find(id)).cancel(reason);
  }

  async cancelAll(reason?: string): Promise<readonly Approval[]> {
    const waiting = await this.pending();
    const cancelled = await Promise.all(waiting.map(({ task }) => this.#cancelIf(task, reason)));
    return waiting.filter((_, index) => cancelled[index]);
  }

  /** `false` if it was decided meanwhile. */
  async #cancelIf(task: string, reason: string | undefined): Promise<boolean> {
    try {
      await this.cancel(task, reason);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }

  /** By the id of the task or of the call. */
  async #find(id: string): Promise<TaskHandle> {
    const task = (await this.#taskOf(id)) ?? (await this.#taskOfCall(id));
    const record = task.snapshot();
    const waits = approvalsOf(record).length > 0;
    const mayWait = record.status === 'stopped' || record.status === 'running';
    if (waits || (mayWait && isUndecided(record))) return task;
    throw refused('no_such_request', task.id);
  }

  /** First: the ids of calls come from the model, which could name one like the task of another. */
  async #taskOf(id: string): Promise<TaskHandle | null> {
    try {
      return await this.#thread.get(id);
    } catch (error) {
      if (isOffstageError(error, 'unknown_task')) return null;
      throw error;
    }
  }

  async #taskOfCall(id: string): Promise<TaskHandle> {
    const asked = (await this.pending()).find(({ call }) => call === id);
    if (asked === undefined) throw unknownTask(id);
    return this.#thread.get(asked.task);
  }

  /** Whatever the approver made of the arguments must still fit the tool. */
  async #check(task: TaskHandle, args: Json): Promise<void> {
    const tool = this.#tools.get(toolNameOf(task));
    if (tool === undefined) return;
    const checked = await checkArgs(tool, args);
    if (checked.kind === 'valid') return;
    const { result } = checked;
    const message = result.kind === 'tool_error' ? result.message : 'The arguments do not fit.';
    throw invalidInput(message);
  }

  /** The open question of a call. One whose runtime has gone is launched again, and asks anew. */
  async #open(task: TaskHandle): Promise<OpenApproval> {
    const [open] = approvalsOf(task.snapshot());
    const place = await this.#engine.activation.find(task.owner, task.id);
    if (open && place.kind === 'elsewhere') return open;
    if (open && place.kind === 'here' && place.cell.executor !== null) return open;
    if (place.kind === 'ended') throw refused('no_such_request', task.id);
    if (place.kind === 'here' && place.cell.executor === null) {
      await this.#launch(task);
    }
    return asked(task);
  }

  async #launch({ owner, id }: TaskHandle): Promise<void> {
    try {
      await resume(this.#engine, owner, id, { reason: null, mode: null });
    } catch (error) {
      // The runtime takes up what was left behind by itself, and may have been faster.
      if (!isOffstageError(error, 'already_running')) throw error;
    }
  }
}

function invalidInput(message: string): OffstageError {
  return new OffstageError('invalid_input', message, { issues: [{ path: '', message }] });
}

function toolNameOf(task: TaskHandle): string {
  const [approval] = approvalsOf(task.snapshot());
  return approval?.tool ?? task.snapshot().definition.replace(/^tool:/, '');
}

/** Waits until a relaunched task asks. Rejects if it ends instead, or has been decided meanwhile. */
function asked(task: TaskHandle): Promise<OpenApproval> {
  return new Promise((resolve, reject) => {
    let subscription: Subscription | null = null;
    const look = () => {
      const record = task.snapshot();
      const [open] = approvalsOf(record);
      if (open === undefined && task.status === 'running' && isUndecided(record)) return;
      subscription?.unsubscribe();
      if (open) resolve(open);
      else reject(refused('no_such_request', task.id));
    };
    subscription = task.events$.subscribe({ next: look, complete: look });
    look();
  });
}
