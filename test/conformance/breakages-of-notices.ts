import type { Notice, Store } from 'offstage';
import { type Breakage, breakage, writing } from './breakage.ts';

/** Lets a store give out notices again that it should have forgotten. */
function reviving(store: Store): {
  readonly methods: Partial<Store>;
  revive(notices: readonly Notice[]): void;
} {
  const acknowledged = new Set<string>();
  const again: Notice[] = [];
  return {
    revive(notices) {
      again.push(...notices.filter(({ key }) => acknowledged.delete(key)));
    },
    methods: {
      async acknowledge(owner, keys) {
        for (const key of keys) acknowledged.add(key);
        await store.acknowledge(owner, keys);
      },
      takeNotices: async (owner, taker, options) => [
        ...(await store.takeNotices(owner, taker, options)),
        ...again,
      ],
    },
  };
}

/** What can go wrong with notices. */
export const noticeBreakages: readonly Breakage[] = [
  breakage(
    'a release keeps the notices of whoever leaves',
    'notice: those that a holder took are free once it has released its lease',
    () => ({ release: async () => {} }),
  ),
  breakage(
    'a release frees the notices of everyone',
    'notice: those that a holder took are free once it has released its lease',
    (store) => ({
      async release() {
        for (const taker of ['taker-1', 'taker-2']) await store.release(taker);
      },
    }),
  ),
  breakage(
    'notices are taken whichever way they go',
    'notice: taken by delivery, only those that go that way, up to the limit',
    (store) => ({
      takeNotices: (owner, taker, { limit, forMs }) =>
        store.takeNotices(owner, taker, { limit, forMs }),
    }),
  ),
  breakage(
    'the limit counts notices that go the other way',
    'notice: taken by delivery, only those that go that way, up to the limit',
    (store) => ({
      async takeNotices(owner, taker, { delivery, ...options }) {
        const taken = await store.takeNotices(owner, taker, options);
        return taken.filter((notice) => delivery === undefined || notice.delivery === delivery);
      },
    }),
  ),
  breakage('notices lose their summary', 'notice: it is taken as it was written', (store) => ({
    async takeNotices(owner, taker, options) {
      const taken = await store.takeNotices(owner, taker, options);
      return taken.map((notice) => ({ ...notice, summary: null }));
    },
  })),
  breakage(
    'each write makes its notices anew',
    'notice: a key that is written twice makes one notice',
    (store) => {
      let written = 0;
      const plain = (notice: Notice) => ({ ...notice, key: notice.key.replace(/#.*/, '') });
      const anew = (notice: Notice) => {
        written += 1;
        return { ...notice, key: `${notice.key}#${written}` };
      };
      return {
        ...writing(store, async (write) => ({ ...write, notices: write.notices.map(anew) })),
        takeNotices: async (owner, taker, options) =>
          (await store.takeNotices(owner, taker, options)).map(plain),
      };
    },
  ),
  breakage(
    'an acknowledged notice is made again',
    'notice: a key that is written again after its acknowledgement makes none',
    (store) => {
      const { revive, methods } = reviving(store);
      return {
        ...methods,
        ...writing(store, async (write, stored) => {
          if (stored && stored.seq < write.record.seq) revive(write.notices);
          return write;
        }),
      };
    },
  ),
  breakage(
    'a retry brings acknowledged notices back',
    'retry: a notice that was acknowledged meanwhile does not come back',
    (store) => {
      const { revive, methods } = reviving(store);
      return {
        ...methods,
        ...writing(store, async (write, stored) => {
          if (stored?.seq === write.record.seq) revive(write.notices);
          return write;
        }),
      };
    },
  ),
  breakage(
    'a key that is written again is free for all',
    'notice: a key that is written again while it is taken stays with its taker',
    (store) => {
      const rewritten = new Set<string>();
      return {
        ...writing(store, async (write, stored) => {
          if (stored) for (const { key } of write.notices) rewritten.add(key);
          return write;
        }),
        takeNotices: (owner, taker, options) =>
          store.takeNotices(owner, rewritten.size > 0 ? 'taker-1' : taker, options),
      };
    },
  ),
  breakage(
    'a notice is given once',
    'notice: its taker gets it again until it is acknowledged',
    (store) => {
      const given = new Set<string>();
      return {
        async takeNotices(owner, taker, options) {
          const taken = await store.takeNotices(owner, taker, options);
          const isNew = ({ key }: Notice) => !given.has(`${taker} ${key}`);
          const left = taken.filter(isNew);
          for (const { key } of left) given.add(`${taker} ${key}`);
          return left;
        },
      };
    },
  ),
  breakage(
    'notices are for every taker at once',
    'notice: another taker waits until its time is over, and then has it alone',
    (store) => ({
      takeNotices: (owner, _, options) => store.takeNotices(owner, 'anybody', options),
    }),
  ),
  breakage(
    'taken notices never lapse',
    'notice: another taker waits until its time is over, and then has it alone',
    (store) => ({
      takeNotices: (owner, taker, { limit }) =>
        store.takeNotices(owner, taker, { limit, forMs: Number.POSITIVE_INFINITY }),
    }),
  ),
  breakage(
    'the time counts from the first take',
    'notice: taking it again lengthens the time',
    (store) => {
      const takers = new Set<string>();
      return {
        takeNotices(owner, taker, { limit, forMs }) {
          const isFirst = !takers.has(taker);
          takers.add(taker);
          return store.takeNotices(owner, taker, { limit, forMs: isFirst ? forMs : 0 });
        },
      };
    },
  ),
  breakage(
    'a look for no time lets go of what was taken',
    'notice: a look by its taker for no time does not give it away',
    (store) => ({
      async takeNotices(owner, taker, options) {
        const taken = await store.takeNotices(owner, taker, options);
        if (options.forMs === 0) await store.release(taker);
        return taken;
      },
    }),
  ),
  breakage('notices come by key', 'notice: oldest first, and no more than the limit', (store) => ({
    async takeNotices(owner, taker, options) {
      const taken = await store.takeNotices(owner, taker, options);
      return taken.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    },
  })),
  breakage(
    'takes ignore the limit',
    'notice: oldest first, and no more than the limit',
    (store) => ({
      takeNotices: (owner, taker, { forMs }) =>
        store.takeNotices(owner, taker, { limit: 1_000, forMs }),
    }),
  ),
  breakage(
    'an acknowledgement is for the first key only',
    'prune: a task with an unacknowledged notice is kept until it is acknowledged',
    (store) => {
      let isFirst = true;
      return {
        async acknowledge(owner, keys) {
          if (isFirst) await store.acknowledge(owner, keys);
          isFirst = false;
        },
      };
    },
  ),
  breakage(
    'an acknowledgement is for all keys',
    'notice: an acknowledged one is gone for every taker, and the others stay',
    (store) => ({
      async acknowledge(owner) {
        const all = await store.takeNotices(owner, 'taker-1', { limit: 1_000, forMs: 0 });
        await store.acknowledge(
          owner,
          all.map(({ key }) => key),
        );
      },
    }),
  ),
  breakage(
    'only taken notices can be acknowledged',
    'notice: it can be acknowledged without having been taken',
    (store) => {
      const taken = new Set<string>();
      return {
        async takeNotices(owner, taker, options) {
          const notices = await store.takeNotices(owner, taker, options);
          for (const { key } of notices) taken.add(key);
          return notices;
        },
        acknowledge: (owner, keys) =>
          store.acknowledge(
            owner,
            keys.filter((key) => taken.has(key)),
          ),
      };
    },
  ),
  breakage('all owners share their notices', 'notice: each owner has its own', (store) => ({
    async takeNotices(_, taker, options) {
      const first = await store.takeNotices('owner-1', taker, options);
      return [...first, ...(await store.takeNotices('owner-2', taker, options))];
    },
  })),
];
