import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import {
  defineTask,
  isOffstageError,
  type RunContext,
  type TaskDefinition,
} from '../../../src/index.ts';
import type { Journal } from '../journal.ts';

/** Goes on by itself after a crash. */
const LASTING = { resumable: true, idempotent: true, recovery: 'resume' } as const;
const NO_INPUT = z.object({});

/** How bodies take their time. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<unknown>;

const really: Pause = (ms, signal) => pause(ms, null, signal ? { signal } : {});

/** Tasks that between them go through every phase, and note what they see. */
export function definitionsFor(journal: Journal, take: Pause = really) {
  /** Notes when a body begins and ends. */
  function noted<Input, Value>(run: (context: RunContext<Input>) => Promise<Value>) {
    return async (context: RunContext<Input>): Promise<Value> => {
      const { id: task, attempt, resumedFrom } = context;
      journal.note({ what: 'start', task, attempt, resumedFrom });
      try {
        return await run(context);
      } finally {
        journal.note({ what: 'end', task, attempt });
      }
    };
  }

  const work = async (context: RunContext<{ readonly steps: number }>) => {
    const { id: task, attempt, input, signal } = context;
    const begin = typeof context.resumedFrom === 'number' ? context.resumedFrom : 0;
    for (let value = 1; value <= input.steps; value += 1) {
      const name = `step-${value}`;
      const made = await context.step(name, () => {
        const token = randomUUID();
        journal.note({ what: 'ran', task, step: name, value: token });
        return token;
      });
      journal.note({ what: 'step', task, step: name, value: made });
      if (value <= begin) continue;
      context.progress({ current: value, total: input.steps });
      await context.output(`${attempt}: ${name}\n`);
      await take(8, signal);
      await context.checkpoint(value);
      journal.note({ what: 'checkpoint', task, attempt, value });
    }
    return input.steps;
  };

  const STEPS = z.object({ steps: z.number() });
  const quick = defineTask({ ...LASTING, name: 'quick', run: noted(async () => 1) });
  const stepper = defineTask({ ...LASTING, name: 'stepper', input: STEPS, run: noted(work) });
  const unsure = defineTask({
    ...LASTING,
    name: 'unsure',
    recovery: 'ask',
    input: STEPS,
    run: noted(work),
  });
  const asker = defineTask({
    ...LASTING,
    name: 'asker',
    run: noted(({ requestInput }) => requestInput({ prompt: 'How many?', schema: z.number() })),
  });
  const talker = defineTask({
    ...LASTING,
    name: 'talker',
    run: noted(async ({ id, send, receive }) => {
      const content = randomUUID();
      await send(content);
      journal.note({ what: 'told', task: id, content });
      return (await receive()).id;
    }),
  });
  /** Ends only if somebody ends it, and takes a while to leave. */
  const patient = defineTask({
    ...LASTING,
    name: 'patient',
    run: noted(async ({ signal, messages, progress }) => {
      let read = 0;
      for await (const _ of messages) {
        read += 1;
        progress({ current: read });
      }
      await take(40);
      signal.throwIfAborted();
    }),
  });
  /** Never rests: whatever happens to it, its next write is under way. */
  const ticker = defineTask({
    ...LASTING,
    name: 'ticker',
    run: noted(async ({ id: task, attempt, signal, checkpoint, resumedFrom }) => {
      const codeOf = (error: unknown) => (isOffstageError(error) ? error.code : String(error));
      const onAbort = () =>
        journal.note({ what: 'aborted', task, attempt, code: codeOf(signal.reason) });
      signal.addEventListener('abort', onAbort, { once: true });
      for (let value = Number(resumedFrom ?? 0) + 1; !signal.aborted; value += 1) {
        try {
          await checkpoint(value);
          journal.note({ what: 'checkpoint', task, attempt, value });
        } catch (error) {
          journal.note({ what: 'refused', task, attempt, code: codeOf(error) });
        }
        await take(5);
      }
      signal.throwIfAborted();
    }),
  });
  /** Is done before its children are. */
  const parent = defineTask({
    ...LASTING,
    name: 'parent',
    input: NO_INPUT,
    run: noted(async ({ id, owner, spawn }) => {
      for (const [key, steps] of [
        ['first', 4],
        ['second', 12],
      ] as const) {
        const child = await spawn(stepper, { steps }, { key });
        journal.note({ what: 'spawned', task: child.id, owner, key: `${id}/${key}` });
      }
      return 2;
    }),
  });
  const flaky = defineTask({
    ...LASTING,
    name: 'flaky',
    restart: {
      maxAttempts: 20,
      minDelayMs: 80,
      maxDelayMs: 80,
      factor: 1,
      jitter: 0,
      intensity: { restarts: 100, windowMs: 1_000 },
    },
    run: noted(async ({ attempt }) => {
      await take(5);
      if (attempt < 3) throw new Error('Not yet.');
      return attempt;
    }),
  });
  return { quick, stepper, unsure, asker, talker, patient, ticker, parent, flaky };
}

export type ChaosDefinitions = ReturnType<typeof definitionsFor>;

export function listOf(definitions: ChaosDefinitions): readonly TaskDefinition[] {
  return Object.values(definitions) as readonly TaskDefinition[];
}
