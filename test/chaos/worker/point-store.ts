import type { Store, Write } from '../../../src/index.ts';
import { overlay } from '../../../src/testing/overlay.ts';
import type { WriteName } from '../points.ts';
import { pass } from './gate.ts';
import type { Held } from './held.ts';
import { during } from './inside-transactions.ts';
import type { Punctuality } from './punctuality.ts';

/** A store that passes a point before and after each of its writes, and notes what is held here. */
export function pointStore(store: Store, held: Held, punctuality: Punctuality): Store {
  async function at<Value>(write: WriteName, call: () => Promise<Value>): Promise<Value> {
    return during(write, async () => {
      pass(`${write} before`);
      const value = await call();
      pass(`${write} after`);
      return value;
    });
  }

  const commit = async (writes: readonly Write[]) => {
    const outcomes = await at(nameOf(writes), () => store.commit(writes));
    for (const [index, { id, record }] of writes.entries()) {
      if (outcomes[index]?.kind === 'ok') held.saw(record);
      else held.lost(id);
    }
    return outcomes;
  };

  const claim = async (id: string, holder: string) => {
    const record = await at('claim', () => store.claim(id, holder));
    if (record !== null) held.saw(record);
    return record;
  };

  return overlay(store, {
    commit,
    claim,
    renew: (holder, leaseMs) => {
      punctuality.renewing();
      return at('renew', () => store.renew(holder, leaseMs));
    },
    release: (holder) => {
      punctuality.released();
      return at('release', () => store.release(holder));
    },
    postCommand: (owner, command) => at('postCommand', () => store.postCommand(owner, command)),
    dropCommands: (task, ids) => at('dropCommands', () => store.dropCommands(task, ids)),
    takeNotices: (owner, taker, options) =>
      at('takeNotices', () => store.takeNotices(owner, taker, options)),
    acknowledge: (owner, keys) => at('acknowledge', () => store.acknowledge(owner, keys)),
  });
}

function nameOf(writes: readonly Write[]): WriteName {
  return writes.some(({ expect }) => expect === null) ? 'create' : 'commit';
}
