import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { codeOf, gated, openStage, over, steered, turns, typesOf } from './setup.ts';

/** A runtime whose commits wait while the test holds the gate. */
async function onGatedStore(options: Parameters<typeof steered>[1] = {}) {
  const clock = virtualClock();
  const gate = gated(memoryStore({ clock }));
  const work = steered('work', { resumable: true, ...options });
  const stage = await openStage({ tasks: [work.definition], store: gate.store, clock });
  return { ...stage, gate, work };
}

describe('what is decided but not stored', () => {
  it('does not give a task children while its resume is on the way', async () => {
    const { thread, work, gate, settle } = await onGatedStore();
    const parent = await thread.spawn(work.definition);
    await parent.stop();
    await settle();
    gate.shut();
    const resumed = parent.resume();
    await turns(5);
    const child = codeOf(thread.spawn(work.definition, undefined, { parent: parent.id }));
    gate.open();
    expect(await child).toBe('parent_not_running');
    await resumed;
  });

  it('never starts the body of a task that was cancelled together with its start', async () => {
    const clock = virtualClock();
    const gate = gated(memoryStore({ clock }));
    const work = steered('work');
    const limits = { perOwner: 1, whenFull: 'queue' } as const;
    const stage = await openStage({ tasks: [work.definition], store: gate.store, clock, limits });
    const { thread, settle, runtime } = stage;
    const first = await thread.spawn(work.definition);
    const second = await thread.spawn(work.definition);
    await settle();
    gate.shut();
    // While a message is on its way to the store, the start and the cancel meet in the mailbox.
    const sent = second.send('hello');
    engineOf(runtime).cells.get(second.id)?.post({ type: 'START' });
    const cancelled = second.cancel();
    gate.open();
    await Promise.all([sent, cancelled]);
    await settle();
    expect(await typesOf(gate.store, second)).toContain('cancelled');
    expect(work.bodies.filter(({ context }) => context.id === second.id)).toHaveLength(1);
    expect(work.bodies.at(-1)?.context.signal.aborted).toBe(true);
    await first.cancel();
  });

  it('takes no answer to a write of an earlier hold for its own', async () => {
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    const gate = gated(inner);
    let failures = 0;
    let heldFrom = Number.POSITIVE_INFINITY;
    const store = over(inner, {
      async commit(writes) {
        failures -= 1;
        if (failures >= 0) throw new Error('not now');
        const isHeld = writes.some(({ record }) => record.epoch >= heldFrom);
        return isHeld ? gate.store.commit(writes) : inner.commit(writes);
      },
    });
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition], store, clock });
    const { thread, settle, runtime } = stage;
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    // The first resume is to be tried again later, on its own.
    failures = 2;
    const lost = codeOf(task.resume());
    await turns(5);
    engineOf(runtime).cells.get(task.id)?.fence();
    expect(await lost).toBe('fenced');
    // Taken up again: this write is still on its way when the first one gets its answer.
    gate.shut();
    heldFrom = task.snapshot().epoch + 2;
    const again = codeOf(task.resume());
    await turns(5);
    clock.advance(10);
    await turns(5);
    gate.open();
    expect(await again).toBe('ok');
    await settle();
    expect(task.status).toBe('running');
    expect(task.snapshot().seq).toBe((await store.load(task.owner, task.id))?.seq);
  });
});
