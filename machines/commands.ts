/** A value that survives JSON: the only kind of value a task stores. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Whether a turn waits for the task. */
export type Mode = 'foreground' | 'background';

/** Who gets a background task's notices: the loop by itself, or the host that drains them. */
export type Delivery = 'loop' | 'manual';

/** Whether the end of a background task asks an idle loop to go on. */
export type ContinuePolicy = 'notify' | 'request';

/**
 * What becomes of a task whose runtime has died: it is resumed, its owner is asked whether to resume
 * it, or it stays stopped.
 */
export type Recovery = 'resume' | 'ask' | 'stay';

/** Something that a task has to do with, such as the schedule that started it. */
export interface TaskLink {
  readonly kind: string;
  readonly id: string;
}

/** A file that a task has left behind; `error` says why it could not be written. */
export interface Artifact {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** Of its content, such as `sha256-…`; absent for a file that was only noted. */
  readonly hash?: string;
  readonly error?: string;
}

/** Why a task failed, in the words its owner may see. */
export interface TaskFailure {
  readonly code: string;
  readonly message: string;
  /** `false` keeps a `transient` task from being restarted after this failure. */
  readonly retryable?: boolean;
}

/** How the body of a task ended. */
export type Outcome =
  | { readonly kind: 'completed'; readonly output: Json; readonly summary: string | null }
  | { readonly kind: 'failed'; readonly failure: TaskFailure };

/** A question that a task asks its owner. */
export interface InputRequest {
  readonly id: string;
  readonly kind: string;
  readonly prompt: string;
  /** Free data for whoever answers, such as choices or a JSON Schema of the answer. */
  readonly data: Json;
  readonly askedAt: number;
}

/** A message between a task and its owner. */
export interface Message {
  readonly id: string;
  readonly direction: 'in' | 'out';
  readonly content: Json;
  readonly inReplyTo: string | null;
  readonly at: number;
}

/** How far a task has come; every field is optional and the last report wins. */
export interface Progress {
  readonly current?: number;
  readonly total?: number;
  readonly unit?: string;
  readonly label?: string;
}

/** One thing that a running body tells. */
export type Report =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'output'; readonly stream: string; readonly text: string }
  | { readonly kind: 'status'; readonly text: string }
  | { readonly kind: 'checkpoint'; readonly value: Json }
  | { readonly kind: 'step'; readonly name: string; readonly value: Json }
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'read'; readonly messageIds: readonly string[] }
  | { readonly kind: 'evidence'; readonly evidence: Json }
  | { readonly kind: 'artifact'; readonly artifact: Artifact }
  | { readonly kind: 'link'; readonly link: TaskLink };

/** When and how often a `transient` task is started again after a failure. */
export interface RestartPolicy {
  /** Attempts between two resumes, the first included. */
  readonly maxAttempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly factor: number;
  /** Share of the delay that is random: 0 none, 1 all of it. */
  readonly jitter: number;
  /** More than `restarts` restarts within `windowMs` fail the task for good. */
  readonly intensity: { readonly restarts: number; readonly windowMs: number };
}

/** What is true around the task when a command is decided. The runtime stamps it; the machine only reads it. */
export interface Facts {
  readonly now: number;
  /** A body of this task runs in this process, abandoned or not. */
  readonly executor: boolean;
  /** How many linked children are running. */
  readonly children: number;
  /** The parent is running, or there is none, or the link to it is detached. */
  readonly parentRunning: boolean;
  /** A turn waits for the task. */
  readonly foreground: boolean;
  /** There is room to work at once; otherwise the task waits in `queued`. */
  readonly admitted: boolean;
  readonly resumable: boolean;
  readonly graceMs: number;
  /** Absent for `temporary` tasks. */
  readonly restart: RestartPolicy | null;
  /** A random number in [0, 1) for the back-off. */
  readonly jitter: number;
}

/** All that can be asked of a task. Those with an `epoch` come from its body. */
export type TaskCommand = { readonly facts: Facts } & (
  | { readonly type: 'START' }
  | { readonly type: 'ASK'; readonly epoch: number; readonly request: InputRequest }
  | { readonly type: 'ANSWER'; readonly requestId: string; readonly value: Json }
  | { readonly type: 'WITHDRAW'; readonly epoch: number; readonly requestId: string }
  | { readonly type: 'MESSAGE'; readonly message: Message }
  | { readonly type: 'REPORT'; readonly epoch: number; readonly reports: readonly Report[] }
  | {
      readonly type: 'SUCCEED';
      readonly epoch: number;
      readonly output: Json;
      readonly summary: string | null;
    }
  | { readonly type: 'FAIL'; readonly epoch: number; readonly failure: TaskFailure }
  | { readonly type: 'TIME_OUT'; readonly failure: TaskFailure }
  | { readonly type: 'RETRY' }
  | {
      readonly type: 'CANCEL';
      readonly reason: string | null;
      /** Spares a task for which no turn waits any more when its time comes. */
      readonly foregroundOnly?: boolean;
    }
  | {
      readonly type: 'STOP';
      readonly reason: string | null;
      /** Set if the task is left without a runtime, with what is to become of it. */
      readonly recovery?: Recovery;
      /** Its runtime has died, rather than been closed. */
      readonly isCrash?: true;
      /** Comes from its parent: what was stopped before is left as it is. */
      readonly isCascade?: true;
    }
  | { readonly type: 'GRACE_OVER' }
  | { readonly type: 'JOIN' }
  | {
      readonly type: 'RESUME';
      readonly reason: string | null;
      readonly input: ResumeInput | null;
      /** `null` keeps the mode that the task had. */
      readonly mode: Mode | null;
    }
  | { readonly type: 'DETACH' }
  | {
      readonly type: 'REDIRECT';
      readonly delivery: Delivery | null;
      readonly continue: ContinuePolicy | null;
    }
);

/** The input of a resumed task when the one who resumed it edited it, with the edit as JSON patches. */
export interface ResumeInput {
  readonly value: Json | undefined;
  readonly patches: Json;
}

/** The name of a command. */
export type TaskCommandType = TaskCommand['type'];

/** What the machine emits for an accepted command. The runtime numbers it and stores it as an event. */
export type TaskEmitted =
  | { readonly type: 'queued' }
  | { readonly type: 'started'; readonly attempt: number; readonly epoch: number }
  | { readonly type: 'asked'; readonly request: InputRequest }
  | { readonly type: 'answered'; readonly requestId: string; readonly value: Json }
  | { readonly type: 'withdrawn'; readonly requestId: string }
  | { readonly type: 'message'; readonly message: Message }
  | { readonly type: 'reported'; readonly reports: readonly Report[] }
  | {
      readonly type: 'retrying';
      readonly failure: TaskFailure;
      readonly retryAt: number;
    }
  | { readonly type: 'joining'; readonly outcome: Outcome }
  | { readonly type: 'cancelRequested'; readonly reason: string | null }
  | { readonly type: 'stopRequested'; readonly reason: string | null }
  | { readonly type: 'abandoned' }
  | {
      readonly type: 'resumed';
      readonly attempt: number;
      readonly reason: string | null;
      readonly input: ResumeInput | null;
      readonly mode: Mode | null;
    }
  | { readonly type: 'detached' }
  | {
      readonly type: 'redirected';
      readonly delivery: Delivery | null;
      readonly continue: ContinuePolicy | null;
    }
  | { readonly type: 'completed'; readonly output: Json; readonly summary: string | null }
  | {
      readonly type: 'failed';
      readonly failure: TaskFailure;
      readonly abandoned: boolean;
      readonly evidence: Json;
    }
  | Ended<'cancelled'>
  | (Ended<'stopped'> & { readonly recovery?: Recovery });

interface Ended<Type extends string> {
  readonly type: Type;
  readonly reason: string | null;
  readonly abandoned: boolean;
  /** What the executor knows of its own end, such as the pids it ended and by which signal. */
  readonly evidence: Json;
}
