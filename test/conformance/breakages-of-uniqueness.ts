import type { Store, TaskRecord } from 'offstage';
import { type Breakage, breakage, isEnded, writing } from './breakage.ts';

/** Refuses a creation that meets another task. */
function meeting(
  store: Store,
  by: 'key' | 'name',
  meets: (record: TaskRecord, other: TaskRecord) => boolean,
): Pick<Store, 'commit'> {
  return writing(store, async (write, stored) => {
    if (stored) return write;
    const { records } = await store.list({});
    const other = records.find((each) => meets(write.record, each));
    return other ? { kind: 'exists', by, record: other } : write;
  });
}

/** What can go wrong with keys and names. */
export const uniquenessBreakages: readonly Breakage[] = [
  breakage(
    'keys are not checked',
    'key: a creation with a key that is taken meets the task that has it, and stores nothing',
    (store) =>
      writing(store, async (write) => ({ ...write, record: { ...write.record, key: null } })),
  ),
  breakage(
    'keys are free after the end',
    'key: it stays taken after the end of its task',
    (store) =>
      writing(store, async (write) => {
        const { records } = await store.list({});
        const isFree = records.some((each) => isEnded(each) && each.key === write.record.key);
        return isFree && !write.expect
          ? { ...write, record: { ...write.record, key: null } }
          : write;
      }),
  ),
  breakage('keys are taken for ever', 'key: it is free again once its task is pruned', (store) => {
    const used = new Map<string, TaskRecord>();
    return writing(store, async (write, stored) => {
      const { key, owner } = write.record;
      const other = used.get(`${owner} ${key}`);
      if (!stored && key && other) return { kind: 'exists', by: 'key', record: other };
      if (key) used.set(`${owner} ${key}`, write.record);
      return write;
    });
  }),
  breakage('keys are shared by all owners', 'key: another owner may use the same one', (store) =>
    meeting(store, 'key', (record, other) => record.key !== null && record.key === other.key),
  ),
  breakage('no key is a key', 'key: tasks without one never meet', (store) =>
    meeting(store, 'key', (record, other) => record.key === other.key),
  ),
  breakage(
    'names are not checked',
    'name: a creation under the name of a live sibling meets it, and stores nothing',
    (store) =>
      writing(store, async (write) => ({ ...write, record: { ...write.record, name: null } })),
  ),
  breakage(
    'names are shared by the whole tree',
    'name: under another parent or another owner the same one is free',
    (store) =>
      meeting(
        store,
        'name',
        (record, other) => record.name !== null && record.name === other.name && !isEnded(other),
      ),
  ),
  breakage('a task meets its own name', 'name: a task goes on under its own name', (store) =>
    writing(store, async (write, stored) =>
      stored?.name && stored.seq < write.record.seq
        ? { kind: 'exists', by: 'name', record: stored }
        : write,
    ),
  ),
  breakage('names are taken for ever', 'name: it is free after an end and after a stop', (store) =>
    meeting(store, 'name', (record, other) => record.name !== null && record.name === other.name),
  ),
  breakage(
    'a resume may take any name',
    'name: a resume is refused while a live sibling has taken the name, and changes nothing',
    (store) =>
      writing(store, async (write, stored) =>
        stored?.status === 'stopped'
          ? { ...write, record: { ...write.record, name: null } }
          : write,
      ),
  ),
  breakage('a resume loses its name', 'name: a resumed task has its name again', (store) =>
    writing(store, async (write, stored) => {
      if (stored?.status !== 'stopped' || write.record.status !== 'running') return write;
      const { records } = await store.list({ statuses: ['running'] });
      const isTaken = records.some(({ name }) => name === stored.name);
      return isTaken ? write : { ...write, record: { ...write.record, name: null } };
    }),
  ),
  breakage(
    'the end of a stopped task waits for its name',
    'name: a stopped task can be cancelled although its name is taken, which stays so',
    (store) =>
      writing(store, async (write, stored) => {
        const { records } = await store.list({ statuses: ['running'] });
        const other = records.find(({ name }) => name !== null && name === stored?.name);
        return stored?.status === 'stopped' && other
          ? { kind: 'exists', by: 'name', record: other }
          : write;
      }),
  ),
];
