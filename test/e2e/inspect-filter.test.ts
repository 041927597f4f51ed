import { describe, expect, test, vi } from 'vitest';
import type { InspectionEvent } from 'xstate';
import type { Inspector, InspectorOptions } from '../../src/inspect/index.ts';
import type { StepEvent } from '../../src/supervisor/projection.ts';
import { systemClock } from '../../src/task/clock.ts';
import { ask, echo, open, TestViewer, wait } from './inspect-viewer.ts';

type Inspect = Inspector['inspect'];

/** Notes which tasks' contexts and commands are turned into JSON. */
function spying(inspect: Inspect, serialised: Set<string>): Inspect {
  const plant = (data: object, id: string) => {
    const toJSON = () => {
      serialised.add(id);
      return { spied: true };
    };
    Object.defineProperty(data, 'toJSON', { value: toJSON, configurable: true });
  };
  return (inspected) => {
    if (inspected.type === '@xstate.event' || inspected.type === '@xstate.snapshot') {
      const { step } = inspected.event as unknown as Partial<StepEvent>;
      const { id } = inspected.actorRef as unknown as { readonly id: string };
      if (step) {
        plant(step.command, id);
        plant(step.snapshot.context, id);
      }
    }
    inspect(inspected);
  };
}

/** Which of three tasks of two owners are seen, and which of them are serialised. */
async function seenWith(options: InspectorOptions) {
  const serialised = new Set<string>();
  let now = 0;
  // Tasks that start at the same time share their first state: here each must have its own.
  const clock = { ...systemClock, now: () => (now += 1) };
  const spied = (inspect: Inspect) => spying(inspect, serialised);
  const { inspector, runtime } = await open(options, { clock }, spied);
  const early = await TestViewer.connect(inspector.url);
  const [a, b] = [runtime.supervisor('a'), runtime.supervisor('b')];
  await a.spawn(wait, undefined, { id: 'a-wait' });
  await a.spawn(echo, undefined, { id: 'a-echo', metadata: { secret: true } });
  await b.spawn(wait, undefined, { id: 'b-wait' });
  const late = await TestViewer.connect(inspector.url);
  for (const thread of [a, b]) for (const task of await thread.list()) await task.cancel();
  await Promise.all([a.idle(), b.idle()]);
  await runtime.close();
  // Viewers have got everything by the time they have said goodbye.
  await inspector.close();
  const said = early.texts.join() + late.texts.join();
  const seen = ['a-wait', 'a-echo', 'b-wait'].filter((id) => said.includes(id));
  return { seen, serialised: [...serialised], names: early.of('@xstate.actor').map((m) => m.name) };
}

describe('a task that is not shown is never serialised, nor told of', () => {
  test.each<[string, InspectorOptions, string[]]>([
    ['without options all are shown', {}, ['a-wait', 'a-echo', 'b-wait']],
    ['by a list of owners', { owners: ['b'] }, ['b-wait']],
    ['by a list of definitions', { tasks: ['wait'] }, ['a-wait', 'b-wait']],
    ['by both lists', { owners: ['a'], tasks: ['wait'] }, ['a-wait']],
    ['by a function', { filter: ({ metadata }) => metadata === null }, ['a-wait', 'b-wait']],
    ['by a sample of none', { sample: 0 }, []],
  ])('%s', async (_title, options, shown) => {
    const { seen, serialised, names } = await seenWith(options);
    expect(seen).toEqual(shown);
    expect(serialised).toEqual(shown);
    const owners = new Set(shown.map((id) => id.slice(0, 1)));
    expect(names.filter((name) => !name.includes(' '))).toEqual([...owners]);
  });

  test('and with no viewer nothing is serialised at all', async () => {
    const serialised = new Set<string>();
    const { runtime } = await open({}, {}, (inspect) => spying(inspect, serialised));
    const task = await runtime.supervisor('a').spawn(wait);
    await task.cancel();
    await task.result().catch(() => {});
    expect(serialised.size).toBe(0);
  });

  test('and the filter is asked once for each attempt', async () => {
    const answers = [true, true, false];
    const { inspector, runtime } = await open({ filter: () => answers.shift() ?? true });
    const thread = runtime.supervisor('a');
    await thread.spawn(wait);
    const task = await thread.spawn(wait);
    expect(inspector.counts.actors).toBe(3);
    await task.stop();
    await task.result().catch(() => {});
    await task.resume();
    expect(answers).toEqual([]);
    expect(inspector.counts.actors).toBe(2);
  });
});

describe('a sample', () => {
  const ids = Array.from({ length: 400 }, (_, index) => `task-${index}`);

  async function sampled(sample: number): Promise<readonly string[]> {
    const { inspector, runtime } = await open({ sample });
    const thread = runtime.supervisor('a');
    const tasks = await Promise.all(ids.map((id) => thread.spawn(wait, undefined, { id })));
    await tasks[0]?.stop();
    await tasks[0]?.result().catch(() => {});
    await tasks[0]?.resume();
    const viewer = await TestViewer.connect(inspector.url);
    await viewer.count(2 * inspector.counts.actors);
    const names = viewer.of('@xstate.actor').map(({ name }) => name);
    return names.filter((name) => name.startsWith('wait ')).sort();
  }

  test('is of about the wanted size, the same each time, and part of any larger one', async () => {
    const [third, again, half] = [await sampled(0.3), await sampled(0.3), await sampled(0.5)];
    expect(third.length).toBeGreaterThan(80);
    expect(third.length).toBeLessThan(160);
    expect(again).toEqual(third);
    expect(half).toEqual(expect.arrayContaining([...third]));
  });
});

describe('a redaction', () => {
  /** All that a viewer hears of a task that asks for a password and gets it. */
  async function heard(options: InspectorOptions) {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const { inspector, runtime } = await open({ onError, ...options });
    const viewer = await TestViewer.connect(inspector.url);
    const task = await runtime.supervisor('a').spawn(ask);
    await viewer.reached(task.id, { running: 'awaitingInput' });
    const late = await TestViewer.connect(inspector.url);
    await late.reached(task.id, { running: 'awaitingInput' });
    await task.answer(task.snapshot().requests[0]?.id ?? '', 'swordfish');
    const result = await task.result();
    const end = await viewer.reached(task.id, 'completed');
    return { errors, result, end, viewer, said: viewer.texts.join() + late.texts.join() };
  }

  test('is not made by default', async () => {
    const { said } = await heard({});
    expect(said.includes('swordfish')).toBe(true);
    expect(said.includes('hush')).toBe(true);
  });

  test('sees every context and command, and what it leaves out is never sent', async () => {
    const kinds = new Set<string>();
    const { said, viewer } = await heard({
      redact: ({ attempt, type }, { kind, task }) => {
        kinds.add(`${kind} of ${task.definition}`);
        return { attempt, type };
      },
    });
    expect(kinds).toEqual(new Set(['context of ask', 'event of ask']));
    expect(said.includes('swordfish')).toBe(false);
    expect(said.includes('hush')).toBe(false);
    const answer = viewer.of('@xstate.event').find(({ event }) => event.type === 'ANSWER');
    expect(answer?.event).toEqual({ type: 'ANSWER' });
  });

  test('is made once, however many viewers look on', async () => {
    let redactions = 0;
    const redact = () => {
      redactions += 1;
    };
    const { inspector, runtime } = await open({ redact });
    const viewers = [
      await TestViewer.connect(inspector.url),
      await TestViewer.connect(inspector.url),
    ];
    const task = await runtime.supervisor('a').spawn(wait);
    await task.cancel();
    await task.result().catch(() => {});
    for (const viewer of viewers) await viewer.reached(task.id, 'cancelled');
    // Three commands, and the four states that they lead from and to.
    expect(redactions).toBe(7);
  });

  test('may change what it gets without changing the task', async () => {
    const { result, said, errors } = await heard({
      redact: (data) => {
        for (const key of Object.keys(data)) delete data[key];
        return data;
      },
    });
    expect(result).toBe('swordfish');
    expect(said.includes('swordfish')).toBe(false);
    expect(errors).toEqual([]);
  });

  test.each<[string, NonNullable<InspectorOptions['redact']>]>([
    [
      'throws',
      () => {
        throw new Error('bug');
      },
    ],
    ['gives back what is not JSON', ({ attempt }) => ({ attempt, n: 1n })],
  ])('that %s shows nothing, is reported, and harms nobody', async (_title, redact) => {
    const { end, errors, result, said, viewer } = await heard({ redact });
    expect(result).toBe('swordfish');
    expect(said.includes('swordfish')).toBe(false);
    expect(errors.length).toBeGreaterThan(0);
    expect(end.snapshot.context).toEqual({ omitted: 'could not be redacted or written' });
    expect(viewer.of('@xstate.event').map(({ event }) => event.type)).toContain('ANSWER');
  });

  test('is not needed for data that is too long: only its length is shown', async () => {
    const { end, said } = await heard({ maxLength: 40 });
    expect(said.includes('swordfish')).toBe(false);
    expect(end.snapshot.context).toEqual({
      omitted: expect.stringMatching(/^\d+ characters, the limit is 40$/),
    });
  });
});

describe('inspect never throws into the runtime', () => {
  test('if the filter and even onError throw', async () => {
    const bug = () => {
      throw new Error('bug');
    };
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { inspector, runtime } = await open({ filter: bug, onError: bug });
    const task = await runtime.supervisor('a').spawn(wait);
    await task.cancel();
    await expect(task.result()).rejects.toMatchObject({ code: 'task_cancelled' });
    expect(inspector.counts.actors).toBe(0);
    expect(printed).toHaveBeenCalledWith('[offstage] onError threw', new Error('bug'));
    printed.mockRestore();
  });

  test('if it gets what it does not know', async () => {
    const errors: unknown[] = [];
    const { inspector } = await open({ onError: (error) => errors.push(error) });
    inspector.inspect({ type: '@xstate.event' } as InspectionEvent);
    inspector.inspect({ type: '@xstate.news' } as unknown as InspectionEvent);
    expect(errors).toEqual([expect.any(TypeError)]);
  });
});
