import type { PrunedTask, Store, StoreHint, TaskRecord } from 'offstage';
import { type Breakage, breakage, isEnded, sound } from './breakage.ts';

/** Lets a store hide tasks as if it had forgotten them. */
function hiding(store: Store): {
  readonly methods: Partial<Store>;
  hide(fits: (record: TaskRecord) => boolean): Promise<readonly PrunedTask[]>;
} {
  const hidden = new Set<string>();
  return {
    methods: {
      load: async (owner, id) => (hidden.has(id) ? null : store.load(owner, id)),
    },
    async hide(fits) {
      const { records } = await store.list({});
      const found = records.filter((record) => fits(record) && !hidden.has(record.id));
      for (const { id } of found) hidden.add(id);
      return found;
    },
  };
}

function hints(
  replace: (hint: StoreHint, listener: (hint: StoreHint) => void) => void,
): (store: Store) => Partial<Store> {
  return (store) => ({
    watch: (listener) => store.watch((hint) => replace(hint, listener)),
  });
}

/** What can go wrong with pruning, hints and restarts. */
export const keepingBreakages: readonly Breakage[] = [
  breakage('nothing is pruned', 'prune: by count, those that ended last are kept', () => ({
    prune: async () => [],
  })),
  breakage(
    'pruned tasks are only counted',
    'prune: it says which tasks were forgotten, each with its owner',
    (store) => ({
      prune: async (policy) =>
        (await store.prune(policy)).map((task) => ({ ...task, owner: 'owner-1' })),
    }),
  ),
  breakage(
    'age counts from the creation of the store',
    'prune: by age, those that ended before the time are forgotten',
    (store) => ({ prune: ({ keep }) => store.prune({ keep, endedBefore: 0 }) }),
  ),
  breakage(
    'age counts from the first end',
    'prune: by age, a task counts from its latest end, whatever was stored first',
    (store) => {
      const { hide, methods } = hiding(store);
      return {
        ...methods,
        prune: ({ endedBefore }) => hide(({ createdAt }) => createdAt < endedBefore),
      };
    },
  ),
  breakage('running tasks are pruned', 'prune: a running task is kept, however old', (store) => {
    const { hide, methods } = hiding(store);
    return {
      ...methods,
      prune: async (policy) => [
        ...(await store.prune(policy)),
        ...(await hide((record) => !isEnded(record))),
      ],
    };
  }),
  breakage('a stop counts for ever', 'prune: a resumed task counts as running again', (store) => {
    const { hide, methods } = hiding(store);
    return {
      ...methods,
      prune: async (policy) => [
        ...(await store.prune(policy)),
        ...(await hide(({ seq }) => seq === 3)),
      ],
    };
  }),
  breakage(
    'stopped tasks are pruned by count',
    'prune: by count, a stopped task is kept, since it may go on',
    (store) => ({
      commit: (writes) =>
        store.commit(
          writes.map((write) => ({ ...write, record: { ...write.record, resumable: false } })),
        ),
    }),
  ),
  breakage(
    'every stopped task is kept for ever',
    'prune: a stopped task that cannot be resumed goes like any other that has ended',
    (store) => ({
      commit: (writes) =>
        store.commit(
          writes.map((write) => ({ ...write, record: { ...write.record, resumable: true } })),
        ),
    }),
  ),
  breakage(
    'unacknowledged notices hold nothing back',
    'prune: a task with an unacknowledged notice is kept until it is acknowledged',
    (store) => ({
      async prune(policy) {
        for (const key of ['one', 'two']) await store.acknowledge('owner-1', [key]);
        return store.prune(policy);
      },
    }),
  ),
  breakage(
    'only the record is pruned',
    'prune: all that belongs to a task goes with it, and its id is free',
    (store) => {
      const { hide, methods } = hiding(store);
      return { ...methods, prune: () => hide(isEnded) };
    },
  ),
  breakage(
    'a forgotten task is written to',
    'prune: a late write to a forgotten task is fenced',
    (store) => ({
      commit: (writes) =>
        store.commit(
          writes.map((write) => (write.expect?.seq === 2 ? { ...write, expect: null } : write)),
        ),
    }),
  ),
  breakage(
    'there are no hints on tasks',
    'watch: a creation and each later write give a hint on the task',
    hints((hint, listener) => hint.kind === 'command' && listener(hint)),
  ),
  breakage(
    'there are no hints on commands',
    'watch: a posted command gives a hint on its inbox',
    hints((hint, listener) => hint.kind === 'task' && listener(hint)),
  ),
  breakage(
    'a watch never ends',
    'watch: all who watch get their hints, and one who has ended it gets none',
    (store) => ({
      watch(listener) {
        store.watch(listener);
        return () => {};
      },
    }),
  ),
  ...[
    'restart: tasks, events, output, commands and notices are still there',
    'restart: a write is still fenced, recognised and unique',
    'restart: leases go on and what was lost is still told',
    'restart: a notice stays with its taker, and an acknowledged one is not made again',
  ].map(
    (caughtBy): Breakage => ({
      name: `a restart forgets everything (${caughtBy})`,
      caughtBy,
      make(needs) {
        return { ...sound(needs), reopen: async () => sound(needs).store };
      },
    }),
  ),
];
