import assert from 'node:assert/strict';
import type { StoreHint } from '../../store/contract.ts';
import type { Bench, ContractCase } from './bench.ts';

/** Hints that there is something new. They may come late, twice or for nothing, but they come. */
export const watching: readonly ContractCase[] = [
  {
    name: 'watch: a creation and each later write give a hint on the task',
    async check(bench) {
      const { hints } = watch(bench);
      const record = await bench.create();
      await hinted(bench, hints, { kind: 'task', id: record.id, owner: record.owner });
      hints.length = 0;
      await bench.step(record);
      await hinted(bench, hints, { kind: 'task', id: record.id, owner: record.owner });
    },
  },
  {
    name: 'watch: a posted command gives a hint on its inbox',
    async check(bench) {
      const record = await bench.create();
      const { hints } = watch(bench);
      await bench.post(record, 'one');
      await hinted(bench, hints, { kind: 'command', id: record.id, owner: record.owner });
    },
  },
  {
    name: 'watch: all who watch get their hints, and one who has ended it gets none',
    async check(bench) {
      const first = watch(bench);
      const second = watch(bench);
      const record = await bench.create();
      const hint = { kind: 'task', id: record.id, owner: record.owner } as const;
      await hinted(bench, first.hints, hint);
      await hinted(bench, second.hints, hint);
      first.end();
      first.hints.length = 0;
      const other = await bench.create();
      await hinted(bench, second.hints, { kind: 'task', id: other.id, owner: other.owner });
      assert.deepEqual(first.hints, []);
    },
  },
];

function watch({ store }: Bench): { readonly hints: StoreHint[]; readonly end: () => void } {
  const hints: StoreHint[] = [];
  const end = store.watch((hint) => hints.push(hint));
  return { hints, end };
}

async function hinted(bench: Bench, hints: readonly StoreHint[], wanted: StoreHint): Promise<void> {
  await bench.eventually(`a hint on the ${wanted.kind} ${wanted.id}`, () =>
    hints.some(
      ({ kind, id, owner }) => kind === wanted.kind && id === wanted.id && owner === wanted.owner,
    ),
  );
}
