import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '../store/contract.ts';
import { overlay } from './overlay.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Counts what goes to a store and what comes back: as long as that grows, something is going on. */
interface Activity {
  count: number;
}

/** Turns of the event loop without any activity after which nothing more can come by itself. */
const QUIET_TURNS = 5;

const byClock = new WeakMap<VirtualClock, Activity>();

/** All runtimes on one clock share their activity, so that to settle one is to settle all. */
export function activityOf(clock: VirtualClock): Activity {
  const activity = byClock.get(clock) ?? { count: 0 };
  byClock.set(clock, activity);
  return activity;
}

/** A store that counts its calls and answers. */
export function observed(store: Store, activity: Activity): Store {
  const count = async <Answer>(call: Promise<Answer>): Promise<Answer> => {
    activity.count += 1;
    try {
      return await call;
    } finally {
      activity.count += 1;
    }
  };
  return overlay(store, {
    commit: (writes) => count(store.commit(writes)),
    load: (owner, id) => count(store.load(owner, id)),
    list: (query) => count(store.list(query)),
    readEvents: (owner, id, since, limit) => count(store.readEvents(owner, id, since, limit)),
    readOutput: (owner, id, query) => count(store.readOutput(owner, id, query)),
    claim: (id, holder) => count(store.claim(id, holder)),
    renew: (holder, leaseMs) => count(store.renew(holder, leaseMs)),
    isAlive: (holder) => count(store.isAlive(holder)),
    orphans: (query) => count(store.orphans(query)),
    postCommand: (owner, command) => count(store.postCommand(owner, command)),
    readCommands: (task) => count(store.readCommands(task)),
    dropCommands: (task, ids) => count(store.dropCommands(task, ids)),
    takeNotices: (owner, taker, options) => count(store.takeNotices(owner, taker, options)),
    acknowledge: (owner, keys) => count(store.acknowledge(owner, keys)),
    prune: (policy) => count(store.prune(policy)),
  });
}

/** Waits until nothing has gone to the store, or come back, for several turns of the event loop. */
export async function settle(activity: Activity): Promise<void> {
  let last = activity.count;
  for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
    await turn();
    if (activity.count !== last) quiet = -1;
    last = activity.count;
  }
}
