import { isMember, membersOf } from './group-members.ts';

/** Processes that are ended together. */
export interface ProcessTree {
  /** The pid of the process that was started. */
  readonly id: number;
  /** Pids that are known to run now. */
  members(): readonly number[];
  signal(signal: NodeJS.Signals): void;
  isGone(): boolean;
}

/** A POSIX process group. Its number stays taken while a member is left, so signals hit no stranger. */
export class ProcessGroup implements ProcessTree {
  readonly id: number;
  #isGone = false;
  /** Members at the last look: while one of them runs there is no need to look at all processes. */
  #known: readonly number[];

  constructor(id: number) {
    this.id = id;
    this.#known = [id];
  }

  members(): readonly number[] {
    return this.#isGone ? [] : (membersOf(this.id) ?? [this.id]);
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.#isGone) sendToGroup(this.id, signal);
  }

  isGone(): boolean {
    if (this.#isGone) return true;
    if (this.#known.some((pid) => isMember(pid, this.id))) return false;
    if (sendToGroup(this.id, 0) === 'nobody') {
      this.#isGone = true;
    } else {
      // Zombies that nobody has reaped still count for `kill`.
      this.#known = this.members();
      this.#isGone = this.#known.length === 0;
    }
    return this.#isGone;
  }
}

/** Sends to every member. A group of another user's processes refuses, and is not gone. */
export function sendToGroup(group: number, signal: NodeJS.Signals | 0): 'sent' | 'nobody' {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return 'nobody';
  }
  return 'sent';
}
