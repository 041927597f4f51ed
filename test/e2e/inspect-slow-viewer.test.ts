import { describe, expect, test } from 'vitest';
import { taskMachine } from '../../machines/index.ts';
import { Messages } from '../../src/inspect/messages.ts';
import { settingsOf } from '../../src/inspect/options.ts';
import type { ShownActor } from '../../src/inspect/shown-actor.ts';
import { Viewer } from '../../src/inspect/viewer.ts';
import { echo, open, TestViewer, wait } from './inspect-viewer.ts';

describe('a viewer that never reads', () => {
  const maxBuffered = 2 ** 16;
  const content = 'x'.repeat(8_000);
  /** More than one message never comes on top of a full buffer. */
  const most = maxBuffered + 20_000;

  async function stall() {
    const { inspector, runtime } = await open({ maxBuffered });
    const thread = runtime.supervisor('thread-1');
    const task = await thread.spawn(echo);
    const lazy = await TestViewer.connect(inspector.url);
    await lazy.count(4);
    lazy.socket.pause();
    // Until the kernel takes no more.
    while (inspector.counts.bufferedBytes < maxBuffered) await task.send(content);
    return { inspector, thread, task, lazy };
  }

  test('takes up no more than its share of memory, and others get everything', async () => {
    const { inspector, task } = await stall();
    const keen = await TestViewer.connect(inspector.url);
    await keen.count(4);
    let top = 0;
    for (let index = 0; index < 500; index += 1) {
      await task.send(content);
      top = Math.max(top, inspector.counts.bufferedBytes);
    }
    await task.send('last');
    const isLast = (event: object) => JSON.stringify(event).includes('"last"');
    await keen.until(({ type, event }) => type === '@xstate.event' && isLast(event));
    const got = keen.of('@xstate.event').filter(({ event }) => event.type === 'MESSAGE');
    expect(got).toHaveLength(501);
    expect(top).toBeLessThan(2 * most);
  });

  test('gets the latest of each actor, and then what happens, once it reads again', async () => {
    const { thread, task, lazy } = await stall();
    const brief = await thread.spawn(wait);
    await brief.cancel();
    await brief.result().catch(() => {});
    const lasting = await thread.spawn(wait);
    await task.cancel();
    await task.result().catch(() => {});

    lazy.socket.resume();
    const end = await lazy.reached(task.id, 'cancelled');
    await lazy.reached(lasting.id, { running: 'working' });
    expect(end.snapshot).toEqual({ status: 'done', value: 'cancelled' });
    expect(lazy.sessionOf(brief.id)).toBeUndefined();
    const introduced = new Set(lazy.of('@xstate.actor').map(({ sessionId }) => sessionId));
    expect(lazy.messages.filter(({ sessionId }) => !introduced.has(sessionId))).toEqual([]);
    const seen = lazy.messages.length;
    await lasting.cancel();
    await lazy.reached(lasting.id, 'cancelled');
    expect(lazy.messages.slice(seen).map(({ event }) => event.type)).toEqual(
      expect.arrayContaining(['CANCEL', 'JOIN']),
    );
  });

  test('does not hold back the end of the inspector', async () => {
    const { inspector } = await stall();
    await inspector.close();
    expect(inspector.counts).toEqual({ actors: 0, viewers: 0, bufferedBytes: 0 });
  });
});

test('a viewer that connects late is sent no more at once than it may be behind', () => {
  const settings = settingsOf({ maxBuffered: 10_000 });
  const live = new Map<string, ShownActor>();
  for (let index = 0; index < 100; index += 1) {
    const sessionId = `x:${index}`;
    const seen = { createdAt: 0, changedAt: 0, cause: '', snapshot: null };
    const actor = { sessionId, rootId: 'x:0', name: sessionId, config: taskMachine.config };
    live.set(sessionId, { ...actor, ...seen, task: null });
  }
  const sent: (() => void)[] = [];
  let top = 0;
  const socket = {
    bufferedAmount: 0,
    send(text: string, done: () => void) {
      this.bufferedAmount += text.length;
      top = Math.max(top, this.bufferedAmount);
      sent.push(() => {
        this.bufferedAmount -= text.length;
        done();
      });
    },
  };
  const viewer = new Viewer(
    socket,
    new Messages(live, settings, () => {}),
    settings.maxBuffered,
    live.values(),
  );
  expect(viewer.keepsUp).toBe(false);
  // Grows while it is read: each flush lets the viewer be sent more.
  for (const flush of sent) flush();
  expect(sent).toHaveLength(100);
  expect(top).toBeLessThan(20_000);
  expect(viewer.keepsUp).toBe(true);
});
