import { isOffstageError, type StoreHint } from 'offstage';
import { sampleRecord, sampleWrite } from 'offstage/testing';
import { describe, expect, test } from 'vitest';
import { sampleNotice } from '../../src/testing/conformance/samples.ts';
import { openStage } from './setup.ts';
import { create, failing, freshPath, next, open, raw } from './sqlite-setup.ts';

const DAMAGED = ['{"seq":3', '', 'null', '7', '[]'];

describe('a damaged record in a sound file', () => {
  async function damaged(body: string) {
    const path = freshPath();
    const store = open(path);
    for (const id of ['a', 'b', 'c']) await create(store, { id, key: id });
    raw(path).prepare("UPDATE tasks SET body = ? WHERE id = 'b'").run(body);
    return store;
  }

  test.each(['{"id":"b"', '', 'null', '7', '{"id":"c"}'])(
    '%j is named, and the list of the others is whole',
    async (body) => {
      const store = await damaged(body);
      const { records, corrupt } = await store.list({ owner: 'owner-1' });
      expect(records.map(({ id }) => id)).toEqual(['a', 'c']);
      expect(corrupt).toEqual(['b']);
    },
  );

  test('takes no place on a page', async () => {
    const store = await damaged('{');
    const first = await store.list({ limit: 2 });
    expect(first.records.map(({ id }) => id)).toEqual(['a', 'c']);
    const second = await store.list({ limit: 1, after: 'a' });
    expect(second).toMatchObject({ records: [{ id: 'c' }], corrupt: ['b'] });
  });

  test('is corrupt_record for who loads or claims it, and harms no other', async () => {
    const store = await damaged('{');
    for (const asked of [
      store.load('owner-1', 'b'),
      store.findByKey('owner-1', 'b'),
      store.claim('b', 'holder-2'),
    ]) {
      expect(await failing(asked, 'corrupt_record')).toMatchObject({ details: { taskId: 'b' } });
    }
    expect(await store.load('owner-1', 'c')).toMatchObject({ id: 'c' });
  });

  test('is reported by a runtime once, however often it lists', async () => {
    const store = await damaged('{');
    const { runtime, errors } = await openStage({ store, recovery: false });
    const thread = runtime.supervisor('owner-1');
    for (let time = 0; time < 3; time += 1) {
      expect((await thread.list()).map(({ id }) => id)).toEqual(['a', 'c']);
    }
    expect(errors).toMatchObject([{ code: 'corrupt_record', details: { taskId: 'b' } }]);
    await runtime.close();
  });
});

describe('damaged rows of a task', () => {
  /** A task with five events, three notices and three commands. */
  async function filled() {
    const path = freshPath();
    const store = open(path);
    const hints: StoreHint[] = [];
    let record = await create(store);
    while (record.seq < 5) {
      const after = record;
      record = next(after);
      await store.commit([sampleWrite(record, { after })]);
    }
    const notices = ['one', 'two', 'three'].map((key) => sampleNotice(record, key));
    await store.commit([sampleWrite(next(record), { after: record, events: [], notices })]);
    for (const id of ['one', 'two', 'three']) {
      const command = { type: 'CANCEL', reason: id } as const;
      await store.postCommand(record.owner, { id, task: record.id, command });
    }
    store.watch((hint) => hints.push(hint));
    return { path, store, record, hints };
  }

  const about = { kind: 'damage', id: 'task-1', owner: 'owner-1' };

  test.each(DAMAGED)(
    'an event that is %j is told as lagged, and those around it are read',
    async (body) => {
      const { path, store, hints } = await filled();
      raw(path).prepare('UPDATE events SET body = ? WHERE seq IN (3, 5)').run(body);
      const read = async (since: number, limit = 9) => {
        const { lagged, events } = await store.readEvents('owner-1', 'task-1', since, limit);
        return { lagged, seqs: events.map(({ seq }) => seq) };
      };
      expect(await read(0)).toEqual({ lagged: null, seqs: [1, 2] });
      expect(await read(2)).toEqual({ lagged: { type: 'lagged', from: 3, to: 3 }, seqs: [4] });
      expect(await read(2, 1)).toEqual({ lagged: { type: 'lagged', from: 3, to: 3 }, seqs: [4] });
      // The sixth was never written here: a hole at the end looks the same.
      expect(await read(4)).toEqual({ lagged: { type: 'lagged', from: 5, to: 6 }, seqs: [] });
      expect(await read(6)).toEqual({ lagged: null, seqs: [] });
      expect(hints).toEqual([
        { ...about, part: 'event' },
        { ...about, part: 'event' },
      ]);
    },
  );

  test('events that were stored together are missed together', async () => {
    const path = freshPath();
    const store = open(path);
    const record = await create(store, { seq: 3 });
    await store.commit([sampleWrite({ ...record, seq: 6 }, { after: record })]);
    raw(path).exec("UPDATE events SET body = '[' WHERE seq = 1");
    const { lagged, events } = await store.readEvents('owner-1', 'task-1', 1, 2);
    expect(lagged).toEqual({ type: 'lagged', from: 2, to: 3 });
    expect(events.map(({ seq }) => seq)).toEqual([4, 5]);
  });

  test.each(DAMAGED.slice(0, 4))(
    'a notice that is %j is passed over, and kept with its task',
    async (body) => {
      const { path, store, hints } = await filled();
      const db = raw(path);
      db.prepare("UPDATE notices SET body = ? WHERE key = 'two'").run(body);
      for (const limit of [2, 9]) {
        const taken = await store.takeNotices('owner-1', 't', { limit, forMs: 1 });
        expect(taken.map(({ key }) => key)).toEqual(['one', 'three']);
      }
      expect(hints).toEqual([{ ...about, part: 'notice' }]);
      await store.acknowledge('owner-1', ['one', 'three']);
      expect(db.prepare("SELECT body FROM notices WHERE key = 'two'").get()).toEqual({ body });
    },
  );

  test.each(DAMAGED.slice(0, 4))('a command that is %j is passed over', async (body) => {
    const { path, store, hints } = await filled();
    raw(path).prepare("UPDATE commands SET body = ? WHERE id = 'two'").run(body);
    const read = async () => (await store.readCommands('task-1')).map(({ id }) => id);
    expect(await read()).toEqual(['one', 'three']);
    expect(await read()).toEqual(['one', 'three']);
    expect(hints).toEqual([{ ...about, part: 'command' }]);
  });

  test.each(['"text', '', 'null', '7', '"too short"'])(
    'output that is %j is � in the same length',
    async (body) => {
      const { path, store, record, hints } = await filled();
      let before = next(record);
      for (const text of ['first ', 'second ', 'third']) {
        const offset = before.outputLength;
        const after = next(before, { outputLength: offset + text.length });
        const { id: task, owner, seq } = after;
        const header = { task, owner, seq, attempt: 1, at: 5 };
        const event = { type: 'output', stream: 'own', text, offset, ...header } as const;
        await store.commit([sampleWrite(after, { after: before, events: [event] })]);
        before = after;
      }
      hints.length = 0;
      raw(path).prepare('UPDATE output SET text = ? WHERE at = 6').run(body);
      const read = (offset: number) => store.readOutput('owner-1', 'task-1', { offset });
      expect(await read(0)).toMatchObject({ text: `first ${'�'.repeat(7)}third`, total: 18 });
      expect(await read(12)).toMatchObject({ text: '�third' });
      expect(hints).toEqual([{ ...about, part: 'output' }]);
    },
  );

  test('are told only once somebody listens, who may read at once', async () => {
    const path = freshPath();
    const store = open(path);
    await create(store);
    raw(path).exec("UPDATE events SET body = '{'");
    await store.readEvents('owner-1', 'task-1', 0, 9);
    const loaded = new Promise((resolve) => {
      store.watch(({ kind, owner, id }) => kind === 'damage' && resolve(store.load(owner, id)));
    });
    await store.readEvents('owner-1', 'task-1', 0, 9);
    expect(await loaded).toEqual(sampleRecord());
  });

  test('are reported by a runtime, each once, and its streams go on', async () => {
    const { path, store } = await filled();
    raw(path).exec(
      "UPDATE events SET body = '{' WHERE seq = 3; UPDATE notices SET body = '{' WHERE key = 'two'",
    );
    const { runtime, errors } = await openStage({ store, recovery: false });
    const thread = runtime.supervisor('owner-1');
    for (let time = 0; time < 2; time += 1) {
      expect(await thread.notices.take()).toHaveLength(2);
      const task = await thread.get('task-1');
      const seen: unknown[] = [];
      for await (const event of task?.events() ?? []) {
        seen.push(event.type === 'lagged' ? event.type : event.seq);
        if (seen.length === 5) break;
      }
      expect(seen).toEqual([1, 2, 'lagged', 4, 5]);
    }
    expect(errors.every((error) => isOffstageError(error, 'corrupt_record'))).toBe(true);
    expect(errors).toMatchObject([
      { details: { taskId: 'task-1', issues: [{ path: 'notice' }] } },
      { details: { taskId: 'task-1', issues: [{ path: 'event' }] } },
    ]);
    await runtime.close();
  });
});
