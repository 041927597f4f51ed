import { Bell } from '../streams/bell.ts';
import { unknownTask } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';
import { holdProcess } from './hold-process.ts';
import { engineBehind, type Supervisor } from './supervisor.ts';

/** What else ends a wait. */
export interface UntilOptions {
  /** How long in ms to wait at most; 0 only looks. Default: for ever. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why a wait is over, and the tasks as they are stored then, in the order they were named. */
export interface Waited {
  readonly reason: 'done' | 'timeout' | 'aborted';
  readonly records: readonly TaskRecord[];
}

/** Tells which task has news. */
class TaskBell extends Bell {
  readonly #onRing: () => void;

  constructor(onRing: () => void) {
    super();
    this.#onRing = onRing;
  }

  override ring(): void {
    this.#onRing();
  }
}

/**
 * Waits until tasks of the owner are as `isDone` wants them, wherever they run. It reads what is
 * stored, once at first and then whenever the store hints at news: nothing polls, and there is at
 * most one timer however many tasks there are. The tasks are not touched.
 */
export async function until(
  thread: Supervisor,
  ids: readonly string[],
  isDone: (records: readonly TaskRecord[]) => boolean,
  { timeoutMs, signal }: UntilOptions = {},
): Promise<Waited> {
  const engine = engineBehind(thread);
  const { listeners, store, clock } = engine;
  const news = new Bell();
  const stale = new Set(ids);
  const records = new Map<string, TaskRecord>();
  let stopped: 'timeout' | 'aborted' | null = timeoutMs === 0 ? 'timeout' : null;
  const stop = (reason: 'timeout' | 'aborted') => {
    stopped ??= reason;
    news.ring();
  };

  const read = async (id: string) => {
    const record = (await store.load(thread.owner, id)) ?? records.get(id);
    // One that was pruned meanwhile stays as it was last seen.
    if (record === undefined) throw unknownTask(id);
    records.set(id, record);
  };

  // Listening comes before the first read, so that nothing falls in between.
  const bells = [...stale].map((id) => {
    const bell = new TaskBell(() => {
      stale.add(id);
      news.ring();
    });
    listeners.add(id, bell);
    return () => listeners.remove(id, bell);
  });
  const onAbort = () => stop('aborted');
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const clearTimer = timeoutMs ? clock.after(timeoutMs, () => stop('timeout')) : () => {};
  try {
    for (;;) {
      const changed = [...stale];
      stale.clear();
      await Promise.all(changed.map(read));
      const known = ids.flatMap((id) => records.get(id) ?? []);
      if (isDone(known)) return { reason: 'done', records: known };
      if (stopped !== null) return { reason: stopped, records: known };
      if (engine.isShut) engine.throwIfClosing();
      await holdProcess(() => news.heard());
    }
  } finally {
    clearTimer();
    signal?.removeEventListener('abort', onAbort);
    for (const unlisten of bells) unlisten();
  }
}
