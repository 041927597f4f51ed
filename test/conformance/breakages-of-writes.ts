import type { CommitOutcome, TaskRecord, Write } from 'offstage';
import { type Breakage, breakage, isEnded, writing } from './breakage.ts';

/** The write as it would be if its writer knew what is stored, but for what it is `known` to say. */
function refit(write: Write, stored: TaskRecord, known: Partial<TaskRecord>): Write {
  const expect = { epoch: known.epoch ?? stored.epoch, seq: known.seq ?? stored.seq };
  return { ...write, expect, record: { ...write.record, holder: known.holder ?? stored.holder } };
}

const isStored = ({ record }: Write, stored: TaskRecord): boolean =>
  record.epoch === stored.epoch && record.seq === stored.seq;

/** What can go wrong with the fence, with retries and with batches. */
export const writeBreakages: readonly Breakage[] = [
  breakage(
    'creations lose what JSON would keep',
    'creation: a task is loaded exactly as it was written',
    (store) =>
      writing(store, async (write) => ({ ...write, record: { ...write.record, steps: {} } })),
  ),
  breakage(
    'creations drop their notices',
    'creation: events and notices come in the same step as the record',
    (store) => writing(store, async (write) => (write.expect ? write : { ...write, notices: [] })),
  ),
  breakage(
    'unknown tasks have a marker for output',
    'creation: a task that never was is null, and has no events, output or commands',
    (store) => ({
      readOutput: async (owner, id, query) =>
        (await store.load(owner, id))
          ? store.readOutput(owner, id, query)
          : { text: '[none]', next: 0, total: 0 },
    }),
  ),
  breakage(
    'a taken id is overwritten',
    'creation: an id that is taken is refused with the task that has it, and changes nothing',
    (store) =>
      writing(store, async (write, stored) =>
        stored && !write.expect && !isStored(write, stored) ? refit(write, stored, {}) : write,
      ),
  ),
  breakage(
    'a taken id is answered without asking whose it is',
    'creation: an id that another owner has is refused, even to the same holder at the same seq',
    (store) =>
      writing(store, async (write, stored) =>
        stored && isStored(write, stored) ? { kind: 'ok' } : write,
      ),
  ),
  breakage(
    'only creations are stored',
    'fence: a write at the stored epoch and seq by the holder is stored',
    (store) => writing(store, async (write) => (write.expect ? { kind: 'ok' } : write)),
  ),
  breakage(
    'the epoch of a record is never raised',
    'fence: a new attempt raises the epoch with a write of its own',
    (store) =>
      writing(store, async (write, stored) =>
        stored ? { ...write, record: { ...write.record, epoch: stored.epoch } } : write,
      ),
  ),
  breakage(
    'a write to an unknown task makes one',
    'fence: a write to a task that never was is fenced and makes none',
    (store) =>
      writing(store, async (write, stored) => (stored ? write : { ...write, expect: null })),
  ),
  breakage('there is no fence', 'fence: a write of an older epoch is fenced', (store) =>
    writing(store, async (write, stored) =>
      stored && write.expect ? refit(write, stored, {}) : write,
    ),
  ),
  breakage('only older epochs are fenced', 'fence: a write of a newer epoch is fenced', (store) =>
    writing(store, async (write, stored) =>
      stored && write.expect && write.expect.epoch > stored.epoch
        ? refit(write, stored, { seq: write.expect.seq })
        : write,
    ),
  ),
  breakage('the fence does not look at seq', 'fence: a write at an older seq is fenced', (store) =>
    writing(store, async (write, stored) =>
      stored && write.expect
        ? refit(write, stored, { epoch: write.expect.epoch, holder: write.record.holder })
        : write,
    ),
  ),
  breakage('only older seqs are fenced', 'fence: a write at a newer seq is fenced', (store) =>
    writing(store, async (write, stored) =>
      stored && write.expect && write.expect.seq > stored.seq ? refit(write, stored, {}) : write,
    ),
  ),
  breakage(
    'the fence does not look at the holder',
    'fence: a write by another holder is fenced',
    (store) =>
      writing(store, async (write, stored) =>
        stored && write.expect ? refit(write, stored, write.expect) : write,
      ),
  ),
  breakage(
    'a refused write consumes its commands all the same',
    'fence: a write by another holder is fenced',
    (store) =>
      writing(store, async (write) => {
        await store.dropCommands(write.id, write.consumed);
        return write;
      }),
  ),
  breakage(
    'a creation is not recognised',
    'retry: a creation that is stored already is ok and changes nothing',
    (store) =>
      writing(store, async (write, stored) =>
        stored && !write.expect ? { kind: 'exists', by: 'id', record: stored } : write,
      ),
  ),
  breakage(
    'a step is not recognised',
    'retry: a step that is stored already is ok and changes nothing',
    (store) =>
      writing(store, async (write, stored) =>
        stored && isStored(write, stored) ? { kind: 'fenced' } : write,
      ),
  ),
  breakage(
    'an end is not recognised',
    'retry: an end that is stored already is ok and changes nothing',
    (store) =>
      writing(store, async (write, stored) =>
        stored && isStored(write, stored) && isEnded(stored) ? { kind: 'fenced' } : write,
      ),
  ),
  breakage(
    'a resume meets its own name',
    'retry: a resume that is stored already is ok, and its own name is no conflict',
    (store) =>
      writing(store, async (write, stored) =>
        stored?.name && isStored(write, stored) && stored.attempt > 1
          ? { kind: 'exists', by: 'name', record: stored }
          : write,
      ),
  ),
  breakage(
    'a retry is recognised for everybody',
    'retry: the same step by another holder is fenced',
    (store) =>
      writing(store, async (write, stored) =>
        stored && write.expect && isStored(write, stored) ? { kind: 'ok' } : write,
      ),
  ),
  breakage(
    'a creation is recognised for everybody',
    'retry: the same creation by another holder meets the task that exists',
    (store) =>
      writing(store, async (write, stored) =>
        stored && !write.expect && isStored(write, stored) ? { kind: 'ok' } : write,
      ),
  ),
  breakage(
    'whatever lies behind is taken for stored',
    'retry: a step that the task has left behind is fenced',
    (store) =>
      writing(store, async (write, stored) =>
        stored && write.record.seq < stored.seq ? { kind: 'ok' } : write,
      ),
  ),
  breakage('an empty batch has an outcome', 'batch: no writes give no outcomes', (store) => ({
    commit: async (writes) => (writes.length > 0 ? store.commit(writes) : [{ kind: 'ok' }]),
  })),
  breakage(
    'outcomes come in another order',
    'batch: outcomes come in the order of the writes, whatever their kinds',
    (store) => ({ commit: async (writes) => (await store.commit(writes)).toReversed() }),
  ),
  breakage(
    'a batch ends at its first refusal',
    'batch: a refused write harms none of its neighbours',
    (store) => ({
      async commit(writes) {
        const outcomes: CommitOutcome[] = [];
        for (const write of writes) {
          const hasRefusal = outcomes.some(({ kind }) => kind !== 'ok');
          outcomes.push(
            ...(hasRefusal ? [{ kind: 'fenced' } as const] : await store.commit([write])),
          );
        }
        return outcomes;
      },
    }),
  ),
  breakage(
    'keys are checked once for a whole batch',
    'batch: of two creations with one key the first is stored and the second meets it',
    (store) => ({
      commit: (writes) =>
        store.commit(
          writes.map((write, index) =>
            index > 0 ? { ...write, record: { ...write.record, key: null } } : write,
          ),
        ),
    }),
  ),
  breakage(
    'names are checked before the first write of a batch',
    'batch: a task that ends frees its name for a later creation of the same batch',
    (store) => ({
      commit: async (writes) => (await store.commit(writes.toReversed())).toReversed(),
    }),
  ),
  breakage(
    'a batch that is known in part is known as a whole',
    'batch: one that is asked again is ok for what is stored and stores the rest',
    (store) => ({
      async commit(writes) {
        const [first] = writes;
        const stored = first && (await store.load(first.owner, first.id));
        if (first && stored && isStored(first, stored)) return writes.map(() => ({ kind: 'ok' }));
        return store.commit(writes);
      },
    }),
  ),
];
