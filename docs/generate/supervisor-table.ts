import { transition } from 'xstate';
import { type SupervisorEvent, supervisorMachine } from '../../machines/index.ts';
import { type Aspect, decisionList } from './decision-list.ts';
import { tableOf } from './markdown.ts';
import { inWords } from './task-tables.ts';

const EVENTS = Object.keys({
  FIRST_TASK_ARRIVED: true,
  LAST_TASK_LEFT: true,
  WATCHED: true,
  UNWATCHED: true,
  CLOSE: true,
} satisfies { readonly [Type in SupervisorEvent['type']]: true }) as SupervisorEvent['type'][];

const STATES = ['idle', 'busy', 'left'] as const;
type State = (typeof STATES)[number];

const WATCHERS: readonly Aspect<number>[] = [
  (watchers) => (watchers === 0 ? 'nobody watches' : 'somebody watches'),
  (watchers) => (watchers > 1 ? 'others watch' : 'no other watches'),
];

/** What each event leads to in each state of a supervisor. */
export function supervisorTable(): string {
  const rows = EVENTS.map((type) => [
    `\`${type}\``,
    ...STATES.map((state) => inWords(cellOf(state, type))),
  ]);
  return tableOf(['', ...STATES], rows);
}

function cellOf(state: State, type: SupervisorEvent['type']) {
  const answered = [0, 1, 2].map((watchers) => ({
    about: watchers,
    answer: answerOf(state, type, watchers),
  }));
  return decisionList(answered, WATCHERS, answerOf(state, type, 1));
}

function answerOf(state: State, type: SupervisorEvent['type'], watchers: number): string {
  const context = { owner: 'thread-1', watchers };
  const before = supervisorMachine.resolveState({ value: state, context });
  const [after] = transition(supervisorMachine, before, { type });
  const isSame = after.value === state && after.context.watchers === watchers;
  return isSame ? 'ignored' : `**${after.value}**`;
}
