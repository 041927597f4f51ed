import type { Orphan, Store, TaskRecord } from 'offstage';
import { type Breakage, breakage, find } from './breakage.ts';

/** Adds tasks that fit to what a store tells, in the right order. */
function also(
  store: Store,
  fits: (record: TaskRecord) => boolean | Promise<boolean>,
): Pick<Store, 'orphans'> {
  return {
    async orphans({ after, limit }) {
      const orphans = await store.orphans({ limit: 1_000 });
      const { records } = await store.list(after === undefined ? {} : { after });
      const found: Orphan[] = [];
      for (const record of records) {
        const isTold = orphans.some(({ id }) => id === record.id);
        if (isTold || (await fits(record))) found.push(record);
      }
      return found.slice(0, limit).map(({ id, owner, definition }) => ({ id, owner, definition }));
    },
  };
}

/** Leaves out what does not fit. */
function only(
  store: Store,
  fits: (record: TaskRecord) => boolean | Promise<boolean>,
): Pick<Store, 'orphans'> {
  return {
    async orphans(query) {
      const found: Orphan[] = [];
      for (const orphan of await store.orphans(query)) {
        const record = await store.load(orphan.owner, orphan.id);
        if (record && (await fits(record))) found.push(orphan);
      }
      return found;
    },
  };
}

/** What can go wrong with tasks that wait for a runtime. */
export const orphanBreakages: readonly Breakage[] = [
  breakage(
    'a stopped task is left alone, whatever waits in its inbox',
    'orphans: a stopped task is one while a cancel waits in its inbox',
    (store) => only(store, ({ status, request }) => status !== 'stopped' || !!request?.recovery),
  ),
  breakage(
    'a stopped task with anything in its inbox is an orphan',
    'orphans: a stopped task is one while a cancel waits in its inbox',
    (store) =>
      also(
        store,
        async ({ id, status }) => status === 'stopped' && (await store.readCommands(id)).length > 0,
      ),
  ),
  breakage(
    'a holder that had a lease has it for ever',
    'orphans: a running task is one once the lease of its holder is over',
    (store) => {
      const known = new Set<string>();
      return {
        renew(holder, leaseMs) {
          known.add(holder);
          return store.renew(holder, leaseMs);
        },
        ...only(store, ({ holder }) => !known.has(holder)),
      };
    },
  ),
  breakage(
    'every running task is an orphan',
    'orphans: a running task is none while its holder lives',
    (store) => also(store, ({ status }) => status === 'running'),
  ),
  breakage(
    'only those who had a lease leave orphans',
    'orphans: a running task is one from the start if its holder never had a lease',
    (store) => {
      const known = new Set<string>();
      return {
        renew(holder, leaseMs) {
          known.add(holder);
          return store.renew(holder, leaseMs);
        },
        ...only(store, ({ holder }) => known.has(holder)),
      };
    },
  ),
  breakage(
    'who leaves in peace leaves no orphans',
    'orphans: a running task is one once its holder has released its lease',
    (store) => {
      const released = new Set<string>();
      return {
        release(holder) {
          released.add(holder);
          return store.release(holder);
        },
        ...only(store, ({ holder }) => !released.has(holder)),
      };
    },
  ),
  breakage(
    'stopped tasks of the living are left alone',
    'orphans: a task that was stopped in order to go on is one, whoever lives',
    (store) => only(store, async ({ holder }) => !(await store.isAlive(holder))),
  ),
  breakage(
    'every stopped task is an orphan',
    'orphans: a task that was stopped for another reason is none',
    (store) => also(store, ({ status }) => status === 'stopped'),
  ),
  breakage(
    'a wish to go on outlasts the end',
    'orphans: a task that has ended for good is none',
    (store) => also(store, ({ request }) => request?.recovery === 'resume'),
  ),
  breakage(
    'an orphan stays one when it is claimed',
    'orphans: a task that somebody with a lease has claimed is none any more',
    (store) => also(store, ({ status, epoch }) => status === 'running' && epoch > 1),
  ),
  breakage(
    'orphans of one owner are told',
    'orphans: they are told with owner and definition, whoever owns them',
    (store) => only(store, ({ owner }) => owner === 'owner-1'),
  ),
  breakage(
    'orphans come by holder',
    'orphans: oldest first, whoever left them, and by id where tasks are of the same age',
    (store) => ({
      async orphans(query) {
        const told = await store.orphans(query);
        const holders = new Map<string, string>();
        for (const { id } of told) holders.set(id, (await find(store, id))?.holder ?? '');
        const holderOf = ({ id }: Orphan) => holders.get(id) ?? '';
        return told.toSorted((a, b) => (holderOf(a) < holderOf(b) ? -1 : 1));
      },
    }),
  ),
  breakage(
    'the limit holds for each holder alone',
    'orphans: pages show each of them once, and no more than the limit',
    (store) => ({
      orphans: ({ limit, ...query }) => store.orphans({ ...query, limit: limit * 3 }),
    }),
  ),
  breakage(
    'a page begins anew after a task that is no orphan',
    'orphans: a page goes on after a task that is none any more',
    (store) => ({
      async orphans({ after, limit }) {
        const told = await store.orphans({ limit: 1_000 });
        const place = told.findIndex(({ id }) => id === after);
        return told.slice(place + 1, place + 1 + limit);
      },
    }),
  ),
];
