import { describe, expect, it } from 'vitest';
import { type Lagged, memoryStore, type TaskEvent, type TaskHandle } from '../../src/index.ts';
import { eventsOf, openStage, over, type Stage, soon, stateOf, steered, turn } from './setup.ts';

type Read = TaskEvent | Lagged;

const seqs = (events: readonly Read[]) =>
  events.map((event) => (event.type === 'lagged' ? `${event.from}-${event.to}` : event.seq));

const upTo = (count: number) => Array.from({ length: count }, (_item, index) => index + 1);

async function openTask(stage: Stage, work: ReturnType<typeof steered>) {
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  return task;
}

/** A store that counts how often events are read. */
function countingReads() {
  const inner = memoryStore();
  let count = 0;
  const store = over(inner, {
    readEvents(...query) {
      count += 1;
      return inner.readEvents(...query);
    },
  });
  return { store, reads: () => count };
}

/** Reads to the end, or until `enough` events are there. */
async function read(task: TaskHandle, since = 0, enough = Number.POSITIVE_INFINITY) {
  const events: Read[] = [];
  for await (const event of task.events({ since })) {
    events.push(event);
    if (events.length >= enough) break;
  }
  return events;
}

describe('events()', () => {
  it('replays an ended task from the beginning and then ends', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const task = await openTask(stage, work);
    work.body.succeed();
    await task.result();
    expect(await soon(read(task))).toEqual(await eventsOf(stage.store, task));
  });

  it('begins after the event that the reader already knows', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const task = await openTask(stage, work);
    work.body.succeed();
    await task.result();
    expect(seqs(await soon(read(task, 2)))).toEqual([3]);
    expect(seqs(await soon(read(task, 3)))).toEqual([]);
    expect(seqs(await soon(read(task, 99)))).toEqual([]);
  });

  it('goes on live after the replay until the task has ended for good', async () => {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition] });
    const task = await openTask(stage, work);
    const reading = read(task);
    await task.send('one');
    await stage.settle();
    await task.stop();
    await stage.settle();
    expect(await stateOf(reading)).toBe('pending');
    await task.resume();
    await stage.settle();
    work.body.succeed();
    const events = await soon(reading);
    expect(events).toEqual(await eventsOf(stage.store, task));
    expect(events.map(({ type }) => type)).toContain('resumed');
  });

  it('ends at a stop from which there is no way back', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const task = await openTask(stage, work);
    const reading = read(task);
    await task.stop();
    expect((await soon(reading)).at(-1)?.type).toBe('stopped');
  });

  it('has neither gap nor double while events are being written, for any reader', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const task = await openTask(stage, work);
    const readers: { since: number; reading: Promise<Read[]> }[] = [];
    const writing: Promise<unknown>[] = [];
    for (let count = 0; count < 600; count += 1) {
      writing.push(task.send(count));
      if (count % 40 === 0) {
        const { seq } = task.snapshot();
        const since = count % 80 === 0 ? seq : Math.floor(seq / 2);
        readers.push({ since, reading: read(task, since) });
      }
      if (count % 7 === 0) await turn();
      if (count % 11 === 0) await Promise.resolve();
    }
    await Promise.all(writing);
    work.body.succeed();
    const { seq: total } = await task.result().then(() => task.snapshot());
    for (const { since, reading } of readers) {
      expect(seqs(await soon(reading))).toEqual(upTo(total).slice(since));
    }
    expect(readers).toHaveLength(15);
  });

  it('shows an event only when it is stored, to slow readers as to fast ones', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const task = await openTask(stage, work);
    const slow: Read[] = [];
    const reading = (async () => {
      for await (const event of task.events()) {
        const stored = await eventsOf(stage.store, task);
        if (event.type !== 'lagged') expect(stored[event.seq - 1]).toEqual(event);
        slow.push(event);
        await turn();
        await turn();
      }
    })();
    for (let count = 0; count < 50; count += 1) await task.send(count);
    work.body.succeed();
    await soon(reading);
    expect(seqs(slow)).toEqual(upTo(task.snapshot().seq));
  });

  it('tells a reader which events the log has dropped', async () => {
    const work = steered();
    const stage = await openStage({
      tasks: [work.definition],
      store: memoryStore({ maxEvents: 20 }),
    });
    const task = await openTask(stage, work);
    for (let count = 0; count < 100; count += 1) await task.send(count);
    work.body.succeed();
    await task.result();
    const total = task.snapshot().seq;
    const [lagged, ...rest] = await soon(read(task, 3));
    if (lagged?.type !== 'lagged') throw new Error(`Expected lagged, got ${lagged?.type}`);
    expect(lagged.from).toBe(4);
    expect(rest.length).toBeGreaterThan(5);
    expect(seqs(rest)).toEqual(upTo(total).slice(lagged.to));
  });

  it('tells a live reader that was too slow as well, and goes on', async () => {
    const work = steered();
    const stage = await openStage({
      tasks: [work.definition],
      store: memoryStore({ maxEvents: 20 }),
    });
    const task = await openTask(stage, work);
    const iterator = task.events()[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ seq: 1 });
    for (let count = 0; count < 100; count += 1) await task.send(count);
    work.body.succeed();
    await task.result();
    const events: Read[] = [];
    for (;;) {
      const { done, value } = await soon(iterator.next());
      if (done) break;
      events.push(value);
    }
    const covered = events.flatMap((event) =>
      event.type === 'lagged' ? upTo(event.to).slice(event.from - 1) : [event.seq],
    );
    expect(covered).toEqual(upTo(task.snapshot().seq).slice(1));
    expect(events.map(({ type }) => type)).toContain('lagged');
  });

  it('can be left, and a reader that left reads no more', async () => {
    const work = steered();
    const { store, reads } = countingReads();
    const stage = await openStage({ tasks: [work.definition], store });
    const task = await openTask(stage, work);
    expect(seqs(await soon(read(task, 0, 1)))).toEqual([1]);
    const before = reads();
    for (let count = 0; count < 5; count += 1) await task.send('more');
    await stage.settle();
    expect(reads()).toBe(before);
  });

  it('ends a reader that waits for the next event when it is told to return', async () => {
    const work = steered();
    const { store, reads } = countingReads();
    const stage = await openStage({ tasks: [work.definition], store });
    const task = await openTask(stage, work);
    const iterator = task.events({ since: 2 })[Symbol.asyncIterator]();
    const next = iterator.next();
    expect(await stateOf(next)).toBe('pending');
    const returned = iterator.return?.() ?? Promise.reject(new Error('no return()'));
    expect(await soon(returned)).toMatchObject({ done: true });
    expect(await soon(next)).toMatchObject({ done: true });
    const before = reads();
    await task.send('more');
    await stage.settle();
    expect(reads()).toBe(before);
  });

  it('rejects the reader when the store cannot be read, and nobody else', async () => {
    const work = steered();
    const inner = memoryStore();
    const store = over(inner, { readEvents: () => Promise.reject(new Error('cannot read')) });
    const stage = await openStage({ tasks: [work.definition], store });
    const task = await openTask(stage, work);
    await expect(soon(read(task))).rejects.toThrow('cannot read');
    work.body.succeed('fine');
    expect(await task.result()).toBe('fine');
  });

  it('ends all readers when the runtime is closed', async () => {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition] });
    const task = await openTask(stage, work);
    const reading = read(task);
    await turn();
    await stage.runtime.close();
    expect((await soon(reading)).at(-1)?.type).toBe('stopped');
  });
});
