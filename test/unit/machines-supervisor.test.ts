import { describe, expect, it } from 'vitest';
import { transition } from 'xstate';
import { type SupervisorEvent, supervisorMachine } from '../../machines/index.ts';

type State = 'idle' | 'busy' | 'left';
/** Where an event leads with nobody, one or two watching: the state and who watches then. */
type Row = readonly [none: string, one: string, two: string];

const same = (state: State): Row => [`${state} 0`, `${state} 1`, `${state} 2`];
const LEFT = same('left');

/** It stays while it has live tasks or subscribers, and leaves when it has neither. */
const CELLS: { readonly [Each in State]: { readonly [Type in SupervisorEvent['type']]: Row } } = {
  idle: {
    FIRST_TASK_ARRIVED: same('busy'),
    LAST_TASK_LEFT: same('idle'),
    WATCHED: ['idle 1', 'idle 2', 'idle 3'],
    UNWATCHED: ['left 0', 'left 0', 'idle 1'],
    CLOSE: LEFT,
  },
  busy: {
    FIRST_TASK_ARRIVED: same('busy'),
    LAST_TASK_LEFT: ['left 0', 'idle 1', 'idle 2'],
    WATCHED: ['busy 1', 'busy 2', 'busy 3'],
    UNWATCHED: ['busy 0', 'busy 0', 'busy 1'],
    CLOSE: LEFT,
  },
  left: {
    FIRST_TASK_ARRIVED: LEFT,
    LAST_TASK_LEFT: LEFT,
    WATCHED: LEFT,
    UNWATCHED: LEFT,
    CLOSE: LEFT,
  },
};

const STATES = Object.keys(CELLS) as State[];
const EVENTS = Object.keys(CELLS.idle) as SupervisorEvent['type'][];

describe.each(STATES)('a supervisor that is %s', (state) => {
  it.each(EVENTS)('takes %s', (type) => {
    const led = [0, 1, 2].map((watchers) => {
      const context = { owner: 'thread-1', watchers };
      const before = supervisorMachine.resolveState({ value: state, context });
      const [after, actions] = transition(supervisorMachine, before, { type });
      expect(actions).toEqual([]);
      return `${after.value} ${after.context.watchers}`;
    });
    expect(led).toEqual(CELLS[state][type]);
  });
});
