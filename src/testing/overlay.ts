import type { Store } from '../store/contract.ts';

/** A store with some of its methods replaced. The others go to the store itself. */
export function overlay(store: Store, replaced: Partial<Store>): Store {
  return {
    commit: (writes) => store.commit(writes),
    load: (owner, id) => store.load(owner, id),
    findByKey: (owner, key) => store.findByKey(owner, key),
    list: (query) => store.list(query),
    readEvents: (owner, id, since, limit) => store.readEvents(owner, id, since, limit),
    readOutput: (owner, id, query) => store.readOutput(owner, id, query),
    claim: (id, holder) => store.claim(id, holder),
    renew: (holder, leaseMs) => store.renew(holder, leaseMs),
    isAlive: (holder) => store.isAlive(holder),
    orphans: (query) => store.orphans(query),
    release: (holder) => store.release(holder),
    postCommand: (owner, command) => store.postCommand(owner, command),
    readCommands: (task) => store.readCommands(task),
    dropCommands: (task, ids) => store.dropCommands(task, ids),
    takeNotices: (owner, taker, options) => store.takeNotices(owner, taker, options),
    acknowledge: (owner, keys) => store.acknowledge(owner, keys),
    prune: (policy) => store.prune(policy),
    watch: (listener) => store.watch(listener),
    close: () => store.close(),
    ...replaced,
  };
}
