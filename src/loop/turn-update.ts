import type { InputRequest } from '../../machines/index.ts';
import type { ToolAnswer } from '../tools/result/tool-answer.ts';
import type { Approval } from './approval.ts';
import type { TaskView } from './task-view.ts';

/** What a call has come to: its answer, or an approval that it waits for. */
export type Resolution =
  | { readonly kind: 'answer'; readonly answer: ToolAnswer }
  | { readonly kind: 'approval'; readonly approval: Approval };

/** What the start of a call gives. */
export type StartOutcome =
  | { readonly kind: 'ready'; readonly resolution: Resolution }
  /** The turn waits for it. A call that has no task of its own has no id. */
  | { readonly kind: 'pending'; readonly mode: 'foreground'; readonly id: string | null }
  /** No turn waits for it: it is answered already, and its result comes as a notice. */
  | {
      readonly kind: 'pending';
      readonly mode: 'background';
      readonly id: string;
      readonly answer: ToolAnswer;
    };

/** A question of a tool that runs in the foreground. Answer it with `answer()` of its task. */
export interface ForegroundQuestion {
  readonly call: string;
  readonly task: string;
  readonly request: InputRequest;
}

/** What a turn learns of one of its calls. Exactly one of them carries the answer of the call. */
export type TurnUpdate =
  | (Resolution & { readonly call: string; readonly task: string | null })
  | ({ readonly kind: 'input' } & ForegroundQuestion)
  | {
      readonly kind: 'detached';
      readonly call: string;
      readonly task: string;
      /** What the call is answered with; the result itself comes as a notice. */
      readonly answer: ToolAnswer;
      readonly view: TaskView;
    };
