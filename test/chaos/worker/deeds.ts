import type { TaskHandle } from '../../../src/index.ts';
import type { Point } from '../points.ts';
import { pick } from '../random.ts';
import type { Client } from './client.ts';

const MOST_LIVE = 10;
/** Few, so that processes often ask for the same one. */
const OPEN_KEYS = 4;
const KEY_LASTS_MS = 400;

type Deed = (owner: string) => Promise<unknown>;

/** Single things that a caller does to the tasks of an owner, wherever they run. */
export function deedsOf(client: Client, random: () => number) {
  const starts =
    (name: Parameters<Client['spawn']>[1], steps = 3): Deed =>
    async (owner) => {
      const live = await client.live(owner);
      if (live.length < MOST_LIVE) await client.spawn(owner, name, { steps });
    };
  const toOne =
    (
      choose: (task: TaskHandle) => boolean,
      act: (task: TaskHandle) => Promise<unknown>,
      among: 'live' | 'stopped' = 'live',
    ): Deed =>
    async (owner) => {
      const task = pick(random, (await client[among](owner)).filter(choose));
      if (task !== undefined) await act(task);
    };
  const questionOf = (task: TaskHandle) => task.snapshot().requests[0]?.id ?? '';
  const isAsking = (task: TaskHandle) => task.snapshot().requests.length > 0;
  const is =
    (...names: readonly string[]) =>
    (task: TaskHandle) =>
      names.includes(task.snapshot().definition);

  return {
    quick: async (owner: string) => client.result(await client.spawn(owner, 'quick')),
    stepper: starts('stepper'),
    unsure: starts('unsure'),
    asker: starts('asker'),
    talker: starts('talker'),
    patient: starts('patient'),
    parent: starts('parent'),
    flaky: starts('flaky'),
    keyed: async (owner: string) => {
      const number = Math.floor(Date.now() / KEY_LASTS_MS) - Math.floor(random() * OPEN_KEYS);
      await client.spawn(owner, 'stepper', { key: `key-${number}` });
    },
    answer: toOne(isAsking, (task) => client.answer(task, questionOf(task), random())),
    wrong: toOne(isAsking, (task) => client.answerWrongly(task, questionOf(task))),
    message: toOne(is('talker', 'patient'), (task) => client.send(task, random())),
    cancel: toOne(is('patient'), (task) => client.cancel(task)),
    cancelAny: toOne(
      () => true,
      (task) => client.cancel(task),
    ),
    stop: toOne(is('patient', 'stepper', 'asker'), (task) => client.stop(task)),
    resume: toOne(
      () => true,
      (task) => client.resume(task),
      'stopped',
    ),
    cancelStopped: toOne(
      () => true,
      (task) => client.cancel(task),
      'stopped',
    ),
    notices: (owner: string) => client.readNotices(owner, 5),
  };
}

export type DeedName = keyof ReturnType<typeof deedsOf>;

/** How often each is done when nothing in particular is wanted. */
export const USUAL: { readonly [Name in DeedName]: number } = {
  quick: 6,
  stepper: 6,
  unsure: 2,
  asker: 4,
  talker: 4,
  patient: 4,
  parent: 4,
  flaky: 4,
  keyed: 6,
  answer: 8,
  wrong: 8,
  message: 8,
  cancel: 6,
  cancelAny: 1,
  stop: 3,
  resume: 6,
  cancelStopped: 2,
  notices: 8,
};

/** What leads to a point. */
const LEADS: { readonly [Begin in string]: readonly DeedName[] } = {
  'phase queued': ['stepper', 'patient'],
  'phase working': ['stepper'],
  'phase awaitingInput': ['asker'],
  'phase retrying': ['flaky'],
  'phase joining': ['parent'],
  'phase cancelling': ['patient', 'cancel'],
  'phase stopping': ['patient', 'stop'],
  create: ['keyed', 'keyed', 'stepper'],
  claim: ['stop', 'resume'],
  postCommand: ['asker', 'talker', 'answer', 'message', 'wrong'],
  dropCommands: ['asker', 'wrong'],
  takeNotices: ['quick', 'notices'],
  acknowledge: ['quick', 'notices'],
};

export function leadsTo(point: Point): readonly DeedName[] {
  const [write = ''] = point.split(' ');
  return LEADS[point] ?? LEADS[write] ?? [];
}
