import { assign, setup } from 'xstate';

/** What a supervisor counts in order to know when it may leave. */
export interface SupervisorContext {
  readonly owner: string;
  /** Subscribers of the owner's streams. */
  readonly watchers: number;
}

/** What can happen to a supervisor. Arrivals and departures of single tasks are counted outside the machine. */
export type SupervisorEvent =
  | { readonly type: 'FIRST_TASK_ARRIVED' }
  | { readonly type: 'LAST_TASK_LEFT' }
  | { readonly type: 'WATCHED' }
  | { readonly type: 'UNWATCHED' }
  | { readonly type: 'CLOSE' };

/**
 * The life of the supervisor of one owner thread: it stays while it has live tasks or subscribers,
 * and leaves when it has neither.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { supervisorMachine } from 'offstage/machines';
 *
 * const actor = createActor(supervisorMachine, { input: { owner: 'thread-1' } }).start();
 * actor.send({ type: 'FIRST_TASK_ARRIVED' });
 * actor.getSnapshot().value; // 'busy'
 * ```
 */
export const supervisorMachine = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent,
    input: {} as { readonly owner: string },
  },
  guards: {
    isWatched: ({ context }) => context.watchers > 0,
    isLastWatcher: ({ context }) => context.watchers <= 1,
  },
  actions: {
    countWatcher: assign({ watchers: ({ context }) => context.watchers + 1 }),
    uncountWatcher: assign({ watchers: ({ context }) => Math.max(0, context.watchers - 1) }),
  },
}).createMachine({
  id: 'supervisor',
  context: ({ input }) => ({ owner: input.owner, watchers: 0 }),
  initial: 'idle',
  on: { CLOSE: '.left' },
  states: {
    idle: {
      on: {
        FIRST_TASK_ARRIVED: 'busy',
        WATCHED: { actions: 'countWatcher' },
        UNWATCHED: [
          { guard: 'isLastWatcher', target: 'left', actions: 'uncountWatcher' },
          { actions: 'uncountWatcher' },
        ],
      },
    },
    busy: {
      on: {
        WATCHED: { actions: 'countWatcher' },
        UNWATCHED: { actions: 'uncountWatcher' },
        LAST_TASK_LEFT: [{ guard: 'isWatched', target: 'idle' }, { target: 'left' }],
      },
    },
    left: { type: 'final' },
  },
});
