import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { describe, expect, test } from 'vitest';
import { type AnyStateNode, createMachine } from 'xstate';
import { type DirectedGraphNode, toDirectedGraph } from 'xstate/graph';
import { supervisorMachine, taskMachine } from '../../machines/index.ts';
import type { TaskHandle } from '../../src/index.ts';
import { open, type Shown, TestViewer, wait } from './inspect-viewer.ts';

/** Every arrow of a machine that leads to another state. */
function arrowsOf(node: DirectedGraphNode): string[] {
  const own = node.edges
    .filter(({ transition }) => transition.target !== undefined)
    .map(({ source, target, label }) => `${source.id} ${label.text} ${target.id}`);
  return [...new Set([node.id, ...own, ...node.children.flatMap(arrowsOf)])].sort();
}

function statesOf(node: AnyStateNode): string[] {
  return [node.id, ...Object.values(node.states).flatMap(statesOf)].sort();
}

function drawn(definition: string): string[] {
  return arrowsOf(toDirectedGraph(createMachine(JSON.parse(definition))));
}

describe('a viewer that connects after 2,000 tasks have started', () => {
  async function crowd(owners: number) {
    const { inspector, runtime } = await open({ filter: ({ owner }) => owner !== 'hidden' });
    const tasks = await Promise.all(
      Array.from({ length: 2_000 }, (_, index) =>
        runtime.supervisor(`thread-${index % owners}`).spawn(wait),
      ),
    );
    const hidden = await runtime.supervisor('hidden').spawn(wait);
    const viewer = await TestViewer.connect(inspector.url);
    await viewer.count(2 * (2_000 + owners));
    return { tasks, hidden, viewer };
  }

  /** Checks that the viewer knows each task, under its supervisor, and gives back the definition they share. */
  function definitionOf(viewer: TestViewer, tasks: readonly TaskHandle[]): string {
    const actors = new Map(viewer.of('@xstate.actor').map((each) => [each.name, each]));
    const snapshots = new Map(viewer.of('@xstate.snapshot').map((each) => [each.sessionId, each]));
    const definitions = new Set<string>();
    for (const { id, owner } of tasks) {
      const actor = actors.get(`wait ${id}`);
      expect(actor?.parentId).toBe(actors.get(owner)?.sessionId);
      expect(snapshots.get(actor?.sessionId ?? '')?.snapshot).toMatchObject({
        status: 'active',
        value: { running: 'working' },
        context: { attempt: 1, epoch: 1 },
      });
      definitions.add(actor?.definition ?? '');
    }
    expect(definitions.size).toBe(1);
    return [...definitions].join();
  }

  test('gets the definition and the latest snapshot of each shown task within 4 MB, and then what happens', async () => {
    const { tasks, hidden, viewer } = await crowd(400);
    expect(viewer.messages).toHaveLength(4_800);
    expect(viewer.bytes).toBeLessThanOrEqual(4_000_000);
    const arrows = arrowsOf(toDirectedGraph(taskMachine));
    expect(drawn(definitionOf(viewer, tasks))).toEqual(arrows);
    expect(viewer.texts.some((text) => text.includes(hidden.id))).toBe(false);

    const [task] = tasks;
    await task?.cancel('enough');
    const id = task?.id ?? '';
    await viewer.reached(id, 'cancelled');
    const live = viewer.messages.slice(4_800).filter((m) => m.sessionId === viewer.sessionOf(id));
    expect(live.map(({ type, event, snapshot }) => [type, event.type, snapshot?.value])).toEqual([
      ['@xstate.event', 'CANCEL', undefined],
      ['@xstate.snapshot', 'CANCEL', { running: 'cancelling' }],
      ['@xstate.event', 'JOIN', undefined],
      ['@xstate.snapshot', 'JOIN', 'cancelled'],
    ]);
    expect(live[0]?.event).toEqual({ type: 'CANCEL', reason: 'enough' });
    expect(live[3]?.snapshot.status).toBe('done');
  });

  test('stays within 4 MB even if each task has an owner of its own', async () => {
    const { tasks, viewer } = await crowd(2_000);
    expect(viewer.bytes).toBeLessThanOrEqual(4_000_000);
    const machine = createMachine(JSON.parse(definitionOf(viewer, tasks)));
    expect(statesOf(machine.root)).toEqual(statesOf(taskMachine.root));
  });

  test('is told of each supervisor before its tasks, and never of children in a snapshot', async () => {
    const { viewer } = await crowd(1);
    const known = new Set<string>();
    for (const { type, sessionId, parentId, snapshot } of viewer.messages) {
      if (type === '@xstate.actor' && parentId !== undefined) expect(known).toContain(parentId);
      known.add(sessionId);
      expect(snapshot).not.toHaveProperty('children');
    }
  });
});

describe('the messages', () => {
  test('carry the whole machines while few actors are live', async () => {
    const { inspector, runtime } = await open();
    await runtime.supervisor('thread-1').spawn(wait);
    const viewer = await TestViewer.connect(inspector.url);
    await viewer.count(4);
    const [supervisor, task] = viewer.of('@xstate.actor');
    expect(JSON.parse(task?.definition ?? '')).toEqual(
      JSON.parse(JSON.stringify(taskMachine.config)),
    );
    expect(drawn(supervisor?.definition ?? '')).toEqual(
      arrowsOf(toDirectedGraph(supervisorMachine)),
    );
  });

  test('tell the life of a task from its start to a viewer that was there first', async () => {
    const { inspector, runtime } = await open();
    const viewer = await TestViewer.connect(inspector.url);
    const task = await runtime.supervisor('thread-1').spawn(wait);
    await task.stop();
    await viewer.until(({ snapshot }) => snapshot?.value === 'left');
    const story = viewer.messages.map(
      ({ type, sessionId, event, snapshot }) =>
        `${sessionId === viewer.sessionOf(task.id) ? 'task' : 'supervisor'} ${type.slice(8)} ${event?.type ?? ''} ${JSON.stringify(snapshot?.value) ?? ''} ${snapshot?.status ?? ''}`,
    );
    expect(story.map((line) => line.replaceAll(/ +/g, ' ').trim())).toEqual([
      'supervisor actor active',
      'supervisor snapshot "idle" active',
      'task actor active',
      'task event xstate.init',
      'task snapshot xstate.init {"running":"queued"} active',
      'supervisor snapshot ADOPT "busy" active',
      'task event START',
      'task snapshot START {"running":"working"} active',
      'task event STOP',
      'task snapshot STOP {"running":"stopping"} active',
      'task event JOIN',
      'task snapshot JOIN "stopped" active',
      'task snapshot xstate.stop "stopped" stopped',
      'supervisor snapshot DISMISS "left" done',
    ]);
  });

  test("reach Stately's own receiver in the shape that it declares", async () => {
    const { inspector, runtime } = await open();
    const task = await runtime.supervisor('thread-1').spawn(wait);
    const received: StatelyInspectionEvent[] = [];
    await new Promise<void>((resolve) => {
      createWebSocketReceiver({ server: inspector.url }).subscribe((event) => {
        received.push(event);
        if (received.length === 4) void task.cancel();
        if (event.type === '@xstate.snapshot' && event.snapshot.status === 'done') resolve();
      });
    });
    const ids = new Set<string>();
    for (const event of received) {
      expect(event).toMatchObject({
        sessionId: expect.stringMatching(/^x:\d+$/),
        rootId: expect.stringMatching(/^x:\d+$/),
        createdAt: expect.stringMatching(/^\d{13}$/),
        _version: '0.7.2',
      });
      ids.add(event.id);
    }
    expect(ids.size).toBe(received.length);
  });

  test('of a resumed task introduce a new actor of the same name', async () => {
    const { inspector, runtime } = await open();
    const viewer = await TestViewer.connect(inspector.url);
    const task = await runtime.supervisor('thread-1').spawn(wait);
    await task.stop();
    await task.result().catch(() => {});
    await task.resume();
    const isSecond = ({ type, snapshot }: Shown) =>
      type === '@xstate.snapshot' && snapshot.context?.attempt === 2;
    const second = await viewer.until(isSecond);
    const actors = viewer.of('@xstate.actor').filter(({ name }) => name === `wait ${task.id}`);
    expect(actors).toHaveLength(2);
    expect(actors[1]?.sessionId).toBe(second.sessionId);
  });
});

describe('what is retained', () => {
  test('is nothing of an actor that ended, however it ended', async () => {
    const { inspector, runtime } = await open();
    const thread = runtime.supervisor('thread-1');
    const [kept, cancelled, stopped] = await Promise.all(
      ['kept', 'cancelled', 'stopped'].map((id) => thread.spawn(wait, undefined, { id })),
    );
    expect(inspector.counts.actors).toBe(4);
    await cancelled?.cancel();
    await stopped?.stop();
    await Promise.allSettled([cancelled?.result(), stopped?.result()]);
    expect(inspector.counts.actors).toBe(2);

    const viewer = await TestViewer.connect(inspector.url);
    await viewer.count(4);
    expect(viewer.of('@xstate.actor').map(({ name }) => name)).toEqual(['thread-1', 'wait kept']);

    await kept?.cancel();
    await kept?.result().catch(() => {});
    expect(inspector.counts.actors).toBe(0);
  });

  test('is nothing after 1,000 tasks have come and gone, watched or not', async () => {
    const { inspector, runtime } = await open();
    const viewer = await TestViewer.connect(inspector.url);
    const tasks = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        runtime.supervisor(`thread-${index % 10}`).spawn(wait),
      ),
    );
    await Promise.all(tasks.map((task, index) => (index % 2 ? task.cancel() : task.stop())));
    await Promise.allSettled(tasks.map((task) => task.result()));
    expect(inspector.counts.actors).toBe(0);
    viewer.socket.close();
  });
});
