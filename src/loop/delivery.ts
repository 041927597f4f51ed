import type { Engine } from '../runtime/engine.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { Bell } from '../streams/bell.ts';
import { isEnd } from '../task/events.ts';
import type { Notice } from '../task/notice.ts';
import { type NoticeItem, renderNotices } from '../tools/prompt/render-notices.ts';
import { type PendingUpdate, readNotices } from './pending.ts';
import type { WaitOptions } from './turn.ts';
import type { WakeUp } from './wake-up.ts';

/** What waits for the loop, all of it at once. */
export interface PendingBatch {
  readonly updates: readonly PendingUpdate[];
  /** All updates as one text for the model; empty if there are none. */
  readonly text: string;
  /** Says that the batch is in the transcript for good. Until then it is given again. */
  acknowledge(): Promise<void>;
}

/** Notices in one batch. */
const MOST_AT_ONCE = 100;

function toItem({ notice, task: { description }, answer }: PendingUpdate): NoticeItem {
  // Without a text of its own a call is described by the name of its tool, which is there already.
  const isOwn = description?.replace(/ \(background\)$/, '') !== notice.tool;
  const item = isOwn ? { ...notice, description } : notice;
  return answer === null || answer.isError ? item : { ...item, result: answer.result };
}

/** Brings what tasks have to say to the loop, or to the host that drains it. */
export class DeliveryDesk {
  readonly #engine: Engine;
  readonly #thread: Supervisor;
  readonly #wakeUp: WakeUp;

  constructor(engine: Engine, thread: Supervisor, wakeUp: WakeUp) {
    this.#engine = engine;
    this.#thread = thread;
    this.#wakeUp = wakeUp;
  }

  async takePending(): Promise<PendingBatch> {
    const { notices } = this.#thread;
    const taken = await this.#wakeUp.take(MOST_AT_ONCE);
    const { updates, outdated } = await readNotices(this.#engine, taken);
    if (outdated.length > 0) await notices.acknowledge(outdated);
    // More may wait behind a whole batch of them.
    if (updates.length === 0 && taken.length === MOST_AT_ONCE) return this.takePending();
    return {
      updates,
      text: renderNotices(updates.map(toItem)),
      acknowledge: () => notices.acknowledge(taken),
    };
  }

  /** What the host is to see itself, taken for good. */
  async drain(): Promise<readonly PendingUpdate[]> {
    const { notices } = this.#thread;
    const drained: PendingUpdate[] = [];
    for (let taken = await take(); taken.length > 0; taken = await take()) {
      drained.push(...(await readNotices(this.#engine, taken)).updates);
      await notices.acknowledge(taken);
    }
    return drained;

    function take(): Promise<readonly Notice[]> {
      return notices.take({ delivery: 'manual' });
    }
  }

  /**
   * Waits for what tasks have to say. `null` if nothing is there and no task could bring anything.
   * Every look comes before the wait for the next change, so no change is missed.
   */
  async whenPending({ signal }: WaitOptions = {}): Promise<PendingBatch | null> {
    const news = new Bell();
    const look = () => news.ring();
    const { listeners } = this.#engine;
    const followed = new Set<string>();
    const listening = this.#thread.notices.arriving$.subscribe({ next: look, complete: look });
    listening.add(
      this.#thread.events$.subscribe((event) => {
        if (isEnd(event) || event.type === 'redirected') look();
      }),
    );
    signal?.addEventListener('abort', look, { once: true });
    try {
      while (!signal?.aborted) {
        const batch = await this.takePending();
        if (batch.updates.length > 0) return batch;
        const awaited = await this.#awaited();
        if (awaited.length === 0) return null;
        const isNew = this.#follow(awaited, followed, news);
        // What was stored before it was followed is seen by another look.
        if (!isNew) await news.heard();
      }
      return null;
    } finally {
      signal?.removeEventListener('abort', look);
      listening.unsubscribe();
      for (const id of followed) listeners.remove(id, news);
    }
  }

  /** The tasks that run and will still have something to say to the loop. */
  async #awaited(): Promise<readonly string[]> {
    if (this.#engine.isShut) return [];
    const tasks = await this.#thread.list({ statuses: ['running'] });
    return tasks
      .map((task) => task.snapshot())
      .filter(({ mode, notify, delivery }) => {
        return mode === 'background' && notify && delivery === 'loop';
      })
      .map(({ id }) => id);
  }

  /** Has the store tell of tasks that other runtimes run. `true` if there was one to add. */
  #follow(ids: readonly string[], followed: Set<string>, news: Bell): boolean {
    const { cells, listeners } = this.#engine;
    const unheard = ids.filter((id) => !cells.has(id) && !followed.has(id));
    for (const id of unheard) {
      followed.add(id);
      listeners.add(id, news);
    }
    return unheard.length > 0;
  }

  async isWaitingOnTasks(): Promise<boolean> {
    return (await this.#awaited()).length > 0;
  }
}
