import { describe, expect, test } from 'vitest';
import type { Runtime } from '../../src/index.ts';
import { type Life, World } from './recovery-setup.ts';
import { steered, typesOf } from './setup.ts';

const resumes = { resumable: true, recovery: 'resume', idempotent: true } as const;

/** Tasks of two owners whose runtime died, and a runtime in which only some have a place. */
async function crowded(limits: { readonly perOwner: number; readonly perRuntime: number }) {
  const world = new World();
  const work = steered('work', resumes);
  const tasks = [work.definition];
  const first = await world.open({ tasks });
  const spawn = (runtime: Runtime, owner: string, id: string) =>
    runtime.supervisor(owner).spawn(work.definition, undefined, { id });
  for (const owner of ['a', 'b']) {
    for (const number of [1, 2, 3]) {
      await spawn(first.runtime, owner, `${owner}${number}`);
      world.clock.advance(1);
    }
  }
  await world.settle();
  first.kill();
  const second = await world.open({ tasks, limits });
  await world.mourn();
  const bodies = () => work.bodies.slice(6);
  const running = () => bodies().map(({ context }) => context.id);
  const phases = async (life: Life = second) => {
    const { records } = await life.store.list({});
    return records.map(({ id, status, phase }) => `${id} ${phase ?? status}`);
  };
  const end = async (id: string) => {
    bodies()
      .find(({ context }) => context.id === id)
      ?.succeed();
    await world.settle();
  };
  return { world, second, work, running, phases, end };
}

describe('orphans that meet a full limit', () => {
  test('[C-x05] [C-67] wait in the queue and run when a place is free, in the runtime', async () => {
    const { phases, running, end, second, world } = await crowded({ perOwner: 5, perRuntime: 2 });
    expect(running()).toHaveLength(2);
    const queued = (await phases()).filter((phase) => phase.endsWith('queued'));
    expect(queued).toHaveLength(4);
    expect(second.errors).toEqual([]);
    for (let place = 0; place < 6; place += 1) {
      const id = running()[place] ?? '';
      await end(id);
      const records = await phases();
      expect(records).toContain(`${id} completed`);
      expect(records.filter((phase) => phase.endsWith('working'))).toHaveLength(
        Math.min(2, 5 - place),
      );
    }
    expect(new Set(running()).size).toBe(6);
    const [id = ''] = running().slice(-1);
    const owner = id[0] ?? '';
    expect((await typesOf(world.store, { owner, id })).slice(2)).toEqual([
      'stopRequested',
      'stopped',
      'resumed',
      'queued',
      'started',
      'completed',
    ]);
  });

  test('[C-x05] [C-67] wait in the queue and run when a place is free, for each owner', async () => {
    const { phases, running, end } = await crowded({ perOwner: 1, perRuntime: 64 });
    expect(running().map((id) => id[0])).toEqual(['a', 'b']);
    const [first = '', other = ''] = running();
    await end(first);
    expect(running()).toHaveLength(3);
    expect(running()[2]?.[0], 'the same owner').toBe('a');
    expect((await phases()).filter((phase) => phase.endsWith('queued'))).toHaveLength(3);
    await end(other);
    expect(running()[3]?.[0]).toBe('b');
  });

  test('[C-x05] wait although a new task would be refused', async () => {
    const { second, work } = await crowded({ perOwner: 1, perRuntime: 64 });
    const thread = second.runtime.supervisor('a');
    await expect(thread.spawn(work.definition)).rejects.toMatchObject({ code: 'limit_reached' });
  });

  test('can be cancelled while they wait, and then never run', async () => {
    const { second, phases, running, end } = await crowded({ perOwner: 1, perRuntime: 64 });
    const waiting = (await phases()).filter(
      (phase) => phase === 'a2 queued' || phase === 'a3 queued',
    );
    expect(waiting).toHaveLength(2);
    const thread = second.runtime.supervisor('a');
    await (await thread.get('a2')).cancel();
    await second.settle();
    await end('a1');
    expect(running()).toContain('a3');
    expect(running()).not.toContain('a2');
  });

  test('wait again in the next runtime, where this one dies too', async () => {
    const { world, second, work } = await crowded({ perOwner: 1, perRuntime: 64 });
    const before = await second.store.list({ owner: 'a' });
    expect(before.records.map(({ phase }) => phase)).toEqual(['working', 'queued', 'queued']);
    second.kill();
    await world.open({ tasks: [work.definition] });
    await world.mourn();
    const after = await world.store.list({ owner: 'a' });
    expect(after.records.map(({ phase }) => phase)).toEqual(['working', 'working', 'working']);
    // Those that waited were not under a body: they lost nothing.
    expect(after.records.map(({ crashes, attempt }) => [crashes, attempt])).toEqual([
      [2, 3],
      [1, 2],
      [1, 2],
    ]);
  });
});
