import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineTask } from '../../src/index.ts';
import { codeOf, openStage, soon } from './setup.ts';

const LONGEST = 4_096;

/** An error that cannot even be looked at. */
function trap(): Error {
  return Object.defineProperty(new Error('never read'), 'message', {
    get() {
      throw new Error('from the getter');
    },
  });
}

/** Something that throws whatever is done with it. */
function mine(): object {
  const explode = () => {
    throw new Error('from the proxy');
  };
  return new Proxy({}, { get: explode, getPrototypeOf: explode, has: explode });
}

function withMessage(message: unknown): Error {
  return Object.defineProperty(new Error(), 'message', { value: message });
}

/** Runs a task whose body throws this, and gives its end. */
async function endOf(thrown: unknown, isLate: boolean) {
  const work = defineTask({
    name: 'work',
    run() {
      if (isLate) return Promise.reject(thrown);
      throw thrown;
    },
  });
  const stage = await openStage({ tasks: [work] });
  const task = await stage.thread.spawn(work);
  const { status, outcome } = await soon(task.ended());
  await soon(stage.runtime.close());
  return { status, failure: outcome?.kind === 'failed' ? outcome.failure : null };
}

describe('what a body throws', () => {
  const escaped: unknown[] = [];
  const keep = (error: unknown) => void escaped.push(error);

  beforeEach(() => {
    escaped.length = 0;
    process.on('uncaughtException', keep);
    process.on('unhandledRejection', keep);
  });

  afterEach(() => {
    process.off('uncaughtException', keep);
    process.off('unhandledRejection', keep);
    expect(escaped).toEqual([]);
  });

  const hostile: readonly [string, () => unknown][] = [
    ['an error with a getter that throws', trap],
    ['a proxy that throws at every touch', mine],
    ['an error whose message is an object', () => withMessage({ deep: () => 1 })],
    ['an error whose message is a symbol', () => withMessage(Symbol('no text'))],
    ['an error without a prototype', () => Object.setPrototypeOf(new Error('bare'), null)],
    ['nothing at all', () => undefined],
  ];

  for (const [name, make] of hostile) {
    for (const isLate of [false, true]) {
      const way = isLate ? 'a promise rejects with it' : 'it is thrown';
      it(`ends the task as failed where it is ${name} and ${way}`, async () => {
        const { status, failure } = await endOf(make(), isLate);
        expect(status).toBe('failed');
        expect(failure?.code).toBe('task_error');
        expect(typeof failure?.message).toBe('string');
        expect(failure?.message).not.toBe('');
      });
    }
  }

  it('harms no other task of the runtime', async () => {
    const bad = defineTask({ name: 'bad', run: () => Promise.reject(trap()) });
    const good = defineTask({ name: 'good', run: () => 'fine' });
    const { thread } = await openStage({ tasks: [bad, good] });
    const broken = await thread.spawn(bad);
    const sound = await thread.spawn(good);
    expect(await codeOf(broken.result())).toBe('task_failed');
    expect(await soon(sound.result())).toBe('fine');
  });

  it('is kept with a message of at most 4,096 characters', async () => {
    for (const thrown of [new Error('x'.repeat(100_000)), 'x'.repeat(100_000)]) {
      const { failure } = await endOf(thrown, false);
      expect(failure?.message).toBe(`${'x'.repeat(LONGEST)}…`);
    }
    const { failure } = await endOf(new Error('x'.repeat(LONGEST)), false);
    expect(failure?.message).toBe('x'.repeat(LONGEST));
  });
});
