import type { Store, TaskRecord } from 'offstage';
import { type Breakage, breakage, find, writing } from './breakage.ts';

async function ownerOf(store: Store, id: string): Promise<string> {
  return (await find(store, id))?.owner ?? '';
}

/** What can go wrong with events, output, lists and owners. */
export const readBreakages: readonly Breakage[] = [
  breakage(
    'events lose their last one',
    'events: they are read as they were written, in order and without a gap',
    (store) => writing(store, async (write) => ({ ...write, events: write.events.slice(0, -1) })),
  ),
  breakage(
    'events include the one already known',
    'events: reading since a number gives only what came after it',
    (store) => ({
      readEvents: (owner, id, since, limit) =>
        store.readEvents(owner, id, Math.max(0, since - 1), limit),
    }),
  ),
  breakage('events ignore the limit', 'events: a limit cuts off the later ones', (store) => ({
    readEvents: (owner, id, since) => store.readEvents(owner, id, since, 1_000),
  })),
  breakage('events of all tasks are one log', 'events: each task has its own', (store) => ({
    async readEvents(owner, id, since, limit) {
      const page = await store.readEvents(owner, id, since, limit);
      const { records } = await store.list({ owner });
      const first = records[0]?.id ?? id;
      return page.events.length > 0 ? store.readEvents(owner, first, since, limit) : page;
    },
  })),
  breakage(
    'dropped events are not told',
    'events: what the log has dropped is told as lagged, and the rest has no gap',
    (store) => ({
      async readEvents(owner, id, since, limit) {
        return { ...(await store.readEvents(owner, id, since, limit)), lagged: null };
      },
    }),
  ),
  breakage(
    'output is always read from its beginning',
    'output: it is read from any offset, with the next offset and the total',
    (store) => ({
      readOutput: (owner, id, { offset: _, ...query }) => store.readOutput(owner, id, query),
    }),
  ),
  breakage(
    'output ignores the limit',
    'output: a limit cuts it, and next leads on to the end',
    (store) => ({
      readOutput: (owner, id, { limit: _, ...query }) => store.readOutput(owner, id, query),
    }),
  ),
  breakage(
    'output ends at what was first read',
    'output: it goes on where an earlier reader has ended',
    (store) => {
      const totals = new Map<string, number>();
      return {
        async readOutput(owner, id, query) {
          const page = await store.readOutput(owner, id, query);
          const total = totals.get(id) ?? page.total;
          totals.set(id, total);
          return { ...page, total };
        },
      };
    },
  ),
  breakage(
    'the beginning of the output is dropped',
    'output: of too much, the beginning and the end are kept with one marker between',
    (store) => ({
      async readOutput(owner, id, query) {
        const page = await store.readOutput(owner, id, query);
        return page.total < 500 ? page : { ...page, text: page.text.slice(-20) };
      },
    }),
  ),
  breakage(
    'offsets count what is kept',
    'output: offsets stay true after a drop, in the head, in the gap and in the tail',
    (store) => ({
      async readOutput(owner, id, { offset = 0, ...query }) {
        const { total } = await store.readOutput(owner, id, {});
        const shift = total < 500 ? 0 : 3;
        return store.readOutput(owner, id, { ...query, offset: Math.max(0, offset - shift) });
      },
    }),
  ),
  breakage(
    'characters are cut in half',
    'output: no page ends or begins with half a character, wherever a cut falls',
    (store) => ({
      async readOutput(owner, id, { offset = 0, limit = 10_000 }) {
        const { text, total } = await store.readOutput(owner, id, { offset });
        const cut = text.slice(0, limit);
        return { text: cut, next: Math.min(total, offset + cut.length), total };
      },
    }),
  ),
  breakage(
    'an offset is taken by the letter',
    'output: an offset inside a character does not give half of it',
    (store) => ({
      async readOutput(owner, id, { offset = 0 }) {
        const { text, total } = await store.readOutput(owner, id, {});
        return { text: text.slice(offset), next: total, total };
      },
    }),
  ),
  breakage(
    'a character that is too long is never read',
    'output: next leads to the end even where a character is longer than the limit',
    (store) => ({
      async readOutput(owner, id, query) {
        const page = await store.readOutput(owner, id, query);
        return query.limit === 1 && query.offset === 1 ? { ...page, text: '', next: 1 } : page;
      },
    }),
  ),
  breakage(
    'streams are not told apart',
    'output: a stream is read alone, and next leads on over what others wrote',
    (store) => ({
      readOutput: (owner, id, { stream: _, ...query }) => store.readOutput(owner, id, query),
    }),
  ),
  breakage(
    'the tail is forgotten',
    'output: tail gives the last characters, and from where to go on',
    (store) => ({
      readOutput: (owner, id, { tail: _, ...query }) => store.readOutput(owner, id, query),
    }),
  ),
  breakage(
    'the tail of a stream is the part of it in the tail of all',
    'output: the tail of a stream is its own, whatever others wrote since',
    (store) => ({
      async readOutput(owner, id, { tail, ...query }) {
        if (tail === undefined) return store.readOutput(owner, id, query);
        const { total } = await store.readOutput(owner, id, {});
        return store.readOutput(owner, id, { ...query, offset: Math.max(0, total - tail) });
      },
    }),
  ),
  breakage(
    'the tail begins with half a character',
    'output: a tail has whole characters only, and never more than were asked for',
    (store) => ({
      async readOutput(owner, id, { tail, ...query }) {
        const page = await store.readOutput(owner, id, query);
        return tail === undefined ? page : { ...page, text: page.text.slice(-tail) };
      },
    }),
  ),
  breakage(
    'the loudest stream has all the room',
    'output: a stream that says much does not push out the last words of another',
    (store) => ({
      async readOutput(owner, id, query) {
        const page = await store.readOutput(owner, id, query);
        return query.stream === 'stderr' && page.total > 500 ? { ...page, text: '' } : page;
      },
    }),
  ),
  breakage(
    'lists come by id',
    'list: oldest first, and by id where tasks are of the same age',
    (store) => ({
      async list(query) {
        const { records, corrupt } = await store.list(query);
        return { records: records.toSorted((a, b) => (a.id < b.id ? -1 : 1)), corrupt };
      },
    }),
  ),
  breakage(
    'lists show what was created',
    'list: it shows records as they stand now, and none that cannot be read',
    (store) => ({
      async list(query) {
        const { records, corrupt } = await store.list(query);
        return { records: records.map((record) => ({ ...record, statusText: null })), corrupt };
      },
    }),
  ),
  breakage(
    'lists ignore the kind',
    'list: each filter holds alone and all hold together',
    (store) => ({
      list: ({ kind: _, ...query }) => store.list(query),
    }),
  ),
  breakage(
    'lists ignore the owner',
    'list: an owner sees only its own tasks, and no owner means all',
    (store) => ({ list: ({ owner: _, ...query }) => store.list(query) }),
  ),
  breakage(
    'pages begin at the task that was last seen',
    'list: pages show every task once, also where many are of the same age',
    (store) => ({
      async list({ after, limit, ...query }) {
        const { records, corrupt } = await store.list(query);
        const begin = Math.max(
          0,
          records.findIndex(({ id }) => id === after),
        );
        return { records: records.slice(begin, limit && begin + limit), corrupt };
      },
    }),
  ),
  breakage('pages are cut before they are filtered', 'list: pages obey the filters', (store) => ({
    async list({ statuses, ...query }) {
      const { records, corrupt } = await store.list(query);
      const fits = ({ status }: TaskRecord) => statuses?.includes(status) ?? true;
      return { records: records.filter(fits), corrupt };
    },
  })),
  breakage(
    'a page begins anew after a task that has left the filter',
    'list: a page goes on after a task that has left the filter meanwhile',
    (store) => ({
      async list({ after, ...query }) {
        const { records } = await store.list({ ...query, limit: 1_000 });
        const isThere = records.some(({ id }) => id === after);
        return store.list(isThere && after !== undefined ? { ...query, after } : query);
      },
    }),
  ),
  breakage('every owner loads every task', 'owner: a foreign one cannot load a task', (store) => ({
    load: async (_, id) => (await find(store, id)) ?? null,
  })),
  breakage('every owner reads all events', 'owner: a foreign one reads no events', (store) => ({
    readEvents: async (_, id, since, limit) =>
      store.readEvents(await ownerOf(store, id), id, since, limit),
  })),
  breakage(
    'every owner reads all output',
    'owner: a foreign one reads no output and does not learn its length',
    (store) => ({
      readOutput: async (_, id, query) => store.readOutput(await ownerOf(store, id), id, query),
    }),
  ),
  breakage(
    'every owner commands all tasks',
    'owner: the command of a foreign one is not posted',
    (store) => ({
      postCommand: async (_, command) =>
        store.postCommand(await ownerOf(store, command.task), command),
    }),
  ),
  breakage(
    'every owner acknowledges all notices',
    'owner: a foreign one neither takes nor acknowledges a notice',
    (store) => ({
      async acknowledge(owner, keys) {
        for (const each of [owner, 'owner-1', 'owner-2']) await store.acknowledge(each, keys);
      },
    }),
  ),
];
