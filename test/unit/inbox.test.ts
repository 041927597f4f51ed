import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it } from 'vitest';
import { defineTask, memoryStore, type Store, type TaskDefinition } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import {
  codeOf,
  eventsOfType,
  gated,
  openStage,
  over,
  settle,
  soon,
  steered,
  turns,
} from './setup.ts';

interface Sides {
  /** The store as the runtime sees it that holds the task. */
  readonly holder?: (store: Store) => Store;
  /** The store as the other runtime sees it. */
  readonly other?: (store: Store) => Store;
}

/** One runtime that holds a task and another that asks something of it through the store. */
async function twoSides<Output>(definition: TaskDefinition<undefined, Output>, sides: Sides = {}) {
  const same = (store: Store) => store;
  const { holder: ofHolder = same, other: ofOther = same } = sides;
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const tasks = [definition];
  const holder = await openStage({ tasks, clock, store: ofHolder(store) });
  const other = await openStage({ tasks, clock, store: ofOther(store) });
  const mine = await holder.thread.spawn(definition);
  await settle(holder.runtime, other.runtime);
  const theirs = await other.thread.get(mine.id);
  return { store, mine, theirs, settle: () => settle(holder.runtime, other.runtime) };
}

/** A store whose reads of an inbox can be held back after they were made. */
function slowInbox() {
  const held: (() => void)[] = [];
  let isSlow = false;
  const wrap = (inner: Store) =>
    over(inner, {
      async readCommands(task) {
        const commands = await inner.readCommands(task);
        if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
        return commands;
      },
    });
  return {
    wrap,
    hold: (hold: boolean) => {
      isSlow = hold;
    },
    release: () => {
      for (const resolve of held.splice(0)) resolve();
    },
  };
}

/** Keeps what it gets. */
function listener() {
  const got: unknown[] = [];
  const definition = defineTask({
    name: 'listener',
    async run({ messages }) {
      for await (const { content } of messages) got.push(content);
    },
  });
  return { definition, got };
}

describe('a command in the inbox of a task', () => {
  it('is done once though an inbox read before it was stored arrives after', async () => {
    const inbox = slowInbox();
    const { definition, got } = listener();
    const base = memoryStore();
    const gate = gated(base);
    const holder = await openStage({ tasks: [definition], store: inbox.wrap(gate.store) });
    const other = await openStage({ tasks: [definition], store: base });
    const mine = await holder.thread.spawn(definition);
    await settle(holder.runtime, other.runtime);
    const theirs = await other.thread.get(mine.id);
    gate.shut();
    await theirs.send('one');
    await turns(4);
    inbox.hold(true);
    await theirs.send('two');
    await turns(4);
    gate.open();
    await turns(8);
    inbox.hold(false);
    inbox.release();
    await settle(holder.runtime, other.runtime);
    const messages = await eventsOfType(base, mine, 'message');
    expect(messages.map(({ message }) => message.content)).toEqual(['one', 'two']);
    expect(got).toEqual(['one', 'two']);
    expect(await base.readCommands(mine.id)).toEqual([]);
  });

  it('is done once though a read of the inbox comes later than the reads after it', async () => {
    const inbox = slowInbox();
    const { definition, got } = listener();
    const { store, mine, theirs, ...all } = await twoSides(definition, { holder: inbox.wrap });
    inbox.hold(true);
    await theirs.send('one');
    await turns(4);
    inbox.hold(false);
    await theirs.send('two');
    await all.settle();
    await theirs.send('three');
    await all.settle();
    inbox.release();
    await all.settle();
    const messages = await eventsOfType(store, mine, 'message');
    expect(messages.map(({ message }) => message.content)).toEqual(['one', 'two', 'three']);
    expect(got).toEqual(['one', 'two', 'three']);
    expect(await store.readCommands(mine.id)).toEqual([]);
  });

  it('is done by the next attempt, if the task was stopped while its inbox was read', async () => {
    const listener = defineTask({
      name: 'listener',
      resumable: true,
      run: async ({ receive }) => (await receive()).content,
    });
    const inbox = slowInbox();
    const { mine, theirs, settle: quiet } = await twoSides(listener, { holder: inbox.wrap });
    inbox.hold(true);
    await theirs.send('hello');
    await mine.stop();
    await quiet();
    inbox.release();
    inbox.hold(false);
    await quiet();
    await mine.resume();
    expect(await soon(mine.result())).toBe('hello');
  });

  it('is not held up by an answer whose check never comes back', async () => {
    const stuck: StandardSchemaV1<unknown, number> = {
      '~standard': { version: 1, vendor: 'test', validate: () => new Promise(() => {}) },
    };
    const asks = defineTask({
      name: 'asks',
      run: ({ requestInput }) => requestInput({ prompt: 'How many?', schema: stuck }),
    });
    const { mine, theirs, ...all } = await twoSides(asks);
    const question = mine.snapshot().requests[0]?.id ?? '';
    await theirs.answer(question, 1);
    await all.settle();
    expect(await theirs.cancel('enough')).toBe(true);
    await all.settle();
    expect(mine.status).toBe('cancelled');
  });
});

describe('a command that is posted while the task leaves its holder', () => {
  const work = (resumable: boolean) => steered('work', { resumable });

  /** Lets something happen to the task after it was looked at and before the command is posted. */
  function meanwhile() {
    let happen = async () => {};
    const wrap = (inner: Store) =>
      over(inner, {
        async postCommand(owner, command) {
          await happen();
          return inner.postCommand(owner, command);
        },
      });
    return {
      wrap,
      set: (next: () => Promise<void>) => {
        happen = next;
      },
    };
  }

  for (const resumable of [true, false]) {
    const which = resumable ? 'resumable' : 'not resumable';
    it(`cancels a task that was stopped and is ${which}`, async () => {
      const first = meanwhile();
      const { definition, bodies } = work(resumable);
      const { store, mine, theirs, ...all } = await twoSides(definition, { other: first.wrap });
      first.set(async () => {
        await mine.stop();
        await mine.ended();
      });
      expect(await soon(theirs.cancel('please'))).toBe(true);
      await all.settle();
      const stored = await store.load(mine.owner, mine.id);
      expect(stored?.status).toBe('cancelled');
      expect(stored?.request?.reason).toBe('please');
      expect(await store.readCommands(mine.id)).toEqual([]);
      expect(bodies).toHaveLength(1);
    });
  }

  it('tells of a cancel that came too late that it did nothing', async () => {
    const first = meanwhile();
    const steeredWork = work(true);
    const sides = await twoSides(steeredWork.definition, { other: first.wrap });
    const { store, mine, theirs } = sides;
    first.set(async () => {
      steeredWork.body.succeed('done');
      await mine.ended();
    });
    expect(await soon(theirs.cancel())).toBe(false);
    await sides.settle();
    expect((await store.load(mine.owner, mine.id))?.status).toBe('completed');
  });

  it('refuses a message to a task that has ended meanwhile', async () => {
    const first = meanwhile();
    const steeredWork = work(true);
    const { mine, theirs } = await twoSides(steeredWork.definition, { other: first.wrap });
    first.set(async () => {
      steeredWork.body.succeed('done');
      await mine.ended();
    });
    expect(await codeOf(theirs.send('hello?'))).toBe('already_ended');
  });
});
