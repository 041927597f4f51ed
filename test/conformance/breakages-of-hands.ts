import type { InboxCommand, LostTask } from 'offstage';
import { type Breakage, breakage, find, isEnded, writing } from './breakage.ts';

/** What can go wrong when tasks change hands: claims, leases, the inbox. */
export const handBreakages: readonly Breakage[] = [
  breakage(
    'a stopped task is held by whoever stopped it',
    'claim: a stopped task is free, also while its last holder lives',
    (store) => ({
      async claim(id, holder) {
        const record = await find(store, id);
        return record && (await store.isAlive(record.holder)) ? null : store.claim(id, holder);
      },
    }),
  ),
  breakage(
    'leases are ignored',
    'claim: a running task is held while the lease of its holder is good',
    (store) => ({
      async claim(id, holder) {
        const record = await find(store, id);
        if (record) await store.release(record.holder);
        return store.claim(id, holder);
      },
    }),
  ),
  breakage(
    'a running task is never free',
    'claim: a running task is free once the lease of its holder is over',
    (store) => ({
      claim: async (id, holder) =>
        (await find(store, id))?.status === 'running' ? null : store.claim(id, holder),
    }),
  ),
  breakage(
    'a release is forgotten',
    'claim: a running task is free once its holder has released its lease',
    () => ({ release: async () => {} }),
  ),
  breakage(
    'ended tasks are given out',
    'claim: a task that has ended for good is never given out',
    (store) => ({
      async claim(id, holder) {
        const record = await find(store, id);
        return record && isEnded(record) ? { ...record, holder } : store.claim(id, holder);
      },
    }),
  ),
  breakage(
    'what was lost is remembered longer than the task',
    'claim: what was lost and forgotten since is not told of another task with the same id',
    (store) => {
      const lost = new Map<string, LostTask>();
      return {
        async claim(id, holder) {
          const record = await find(store, id);
          const claimed = await store.claim(id, holder);
          if (record && claimed) lost.set(record.holder, { id, epoch: claimed.epoch });
          return claimed;
        },
        async renew(holder, leaseMs) {
          const task = lost.get(holder);
          return task ? { lost: [task] } : store.renew(holder, leaseMs);
        },
      };
    },
  ),
  breakage('an unknown task is claimed', 'claim: a task that never was gives null', (store) => ({
    async claim(id, holder) {
      const { records } = await store.list({});
      if (records.length > 0) return store.claim(id, holder);
      throw new Error(`There is no task ${id}`);
    },
  })),
  breakage(
    'everybody gets a free task',
    'claim: of many who want a running task at once, one gets it',
    (store) => ({
      async claim(id, holder) {
        const before = await find(store, id);
        const claimed = await store.claim(id, holder);
        return claimed ?? (before?.epoch === 1 ? before : null);
      },
    }),
  ),
  breakage(
    'a claim does not raise the epoch',
    'claim: each change of hands raises the epoch and keeps the events',
    (store) => ({
      async claim(id, holder) {
        const claimed = await store.claim(id, holder);
        return claimed && { ...claimed, epoch: 1 };
      },
    }),
  ),
  breakage(
    'the old holder may go on',
    'claim: the old holder is fenced and the new one writes',
    (store) =>
      writing(store, async (write, stored) =>
        stored && stored.epoch > write.record.epoch && write.expect
          ? {
              ...write,
              expect: { epoch: stored.epoch, seq: stored.seq },
              record: { ...write.record, holder: stored.holder },
            }
          : write,
      ),
  ),
  breakage(
    'losses are not told',
    'claim: the old holder is told what it has lost, and nobody else is',
    (store) => ({
      async renew(holder, leaseMs) {
        await store.renew(holder, leaseMs);
        return { lost: [] };
      },
    }),
  ),
  breakage(
    'losses are told with the epoch of today',
    'claim: a task that has come back is told as lost with an older epoch, if at all',
    (store) => {
      const claimed = new Set<string>();
      return {
        claim(id, holder) {
          claimed.add(id);
          return store.claim(id, holder);
        },
        async renew(holder, leaseMs) {
          await store.renew(holder, leaseMs);
          return { lost: [...claimed].map((id) => ({ id, epoch: 1_000 })) };
        },
      };
    },
  ),
  breakage(
    'losses are told once',
    'claim: what was lost is told again, since the answer may have been lost too',
    (store) => {
      const told = new Set<string>();
      return {
        async renew(holder, leaseMs) {
          const { lost } = await store.renew(holder, leaseMs);
          const news = lost.filter(({ id }) => !told.has(id));
          for (const { id } of news) told.add(id);
          return { lost: news };
        },
      };
    },
  ),
  breakage('everybody has a lease', 'lease: a holder that never renewed has none', () => ({
    isAlive: async () => true,
  })),
  breakage(
    'leases never end',
    'lease: it is good for as long as was asked, and then over',
    (store) => ({ renew: (holder) => store.renew(holder, Number.POSITIVE_INFINITY) }),
  ),
  breakage('a lease is given once', 'lease: renewed in time it never ends', (store) => {
    const known = new Set<string>();
    return {
      async renew(holder, leaseMs) {
        if (known.has(holder)) return { lost: [] };
        known.add(holder);
        return store.renew(holder, leaseMs);
      },
    };
  }),
  breakage('a lapsed lease stays lapsed', 'lease: renewed too late it begins anew', (store) => {
    const known = new Set<string>();
    return {
      async renew(holder, leaseMs) {
        const hasLapsed = known.has(holder) && !(await store.isAlive(holder));
        known.add(holder);
        return hasLapsed ? { lost: [] } : store.renew(holder, leaseMs);
      },
    };
  }),
  breakage(
    'a release ends all leases',
    'lease: a release ends it at once, and only it',
    (store) => ({
      async release() {
        for (const holder of ['holder-1', 'holder-2']) await store.release(holder);
      },
    }),
  ),
  breakage(
    'commands come by id',
    'inbox: commands are read as they were posted, in order',
    (store) => ({
      async readCommands(task) {
        return (await store.readCommands(task)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      },
    }),
  ),
  breakage(
    'a command is posted twice',
    'inbox: a command that is posted twice is there once',
    (store) => {
      let posted = 0;
      const plain = (command: InboxCommand) => ({ ...command, id: command.id.replace(/#.*/, '') });
      return {
        postCommand(owner, command) {
          posted += 1;
          return store.postCommand(owner, { ...command, id: `${command.id}#${posted}` });
        },
        readCommands: async (task) => (await store.readCommands(task)).map(plain),
      };
    },
  ),
  breakage('all tasks share one inbox', 'inbox: each task has its own', (store) => ({
    async readCommands() {
      const { records } = await store.list({});
      const inboxes = await Promise.all(records.map(({ id }) => store.readCommands(id)));
      return inboxes.flat();
    },
  })),
  breakage(
    'consumed commands stay',
    'inbox: a write takes away the commands it answers, and no others',
    (store) => writing(store, async (write) => ({ ...write, consumed: [] })),
  ),
  breakage(
    'dropped commands stay',
    'inbox: a command can be dropped without a write, and dropping it again is harmless',
    () => ({ dropCommands: async () => {} }),
  ),
  breakage(
    'a claim empties the inbox',
    'inbox: it waits for whoever holds the task next',
    (store) => ({
      async claim(id, holder) {
        const commands = await store.readCommands(id);
        await store.dropCommands(
          id,
          commands.map((command) => command.id),
        );
        return store.claim(id, holder);
      },
    }),
  ),
];
