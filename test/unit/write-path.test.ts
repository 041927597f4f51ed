import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { codeOf, gated, openStage, steered, turns, typesOf } from './setup.ts';

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
    const { thread, work, gate, settle, runtime, clock } = await onGatedStore();
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    const cell = engineOf(runtime).cellOf(task.snapshot());
    gate.shut();
    const lost = codeOf(task.resume());
    await turns(5);
    // Lost while its write is on the way, and taken up again at once.
    cell.fence();
    expect(await lost).toBe('fenced');
    const again = codeOf(task.resume());
    await turns(5);
    gate.open();
    clock.advance(1);
    expect(await again).toBe('ok');
    await settle();
    expect(task.status).toBe('running');
    expect(task.snapshot().seq).toBe((await gate.store.load(task.owner, task.id))?.seq);
  });
});
