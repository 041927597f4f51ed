import type { ActorLogic, ActorRefFrom } from 'xstate';
import { taskMachine } from '../../machines/index.ts';
import type { Cell } from './cell.ts';
import type { Step, TaskSnapshot } from './decide.ts';

/** A stored step on its way to the actor. */
export interface StepEvent {
  readonly type: string;
  readonly step: Step;
  readonly cell: Cell;
}

/**
 * The logic of a task's actor: the machine as a projection of what is stored. It takes over the
 * state that was decided and stored before, and then does what the step asks for.
 */
export const projection: ActorLogic<TaskSnapshot, StepEvent, TaskSnapshot> & {
  readonly config: typeof taskMachine.config;
} = {
  // Lets an inspector draw the machine.
  config: taskMachine.config,
  getInitialSnapshot: (_scope, snapshot) => snapshot,
  transition(snapshot, event, scope) {
    // Not a step: xstate itself stops the actor of a task that no longer runs here.
    if (!('step' in event)) return snapshot;
    const { step, cell } = event;
    if (step.effects.length > 0) scope.defer(() => cell.perform(step));
    return step.snapshot;
  },
  getPersistedSnapshot: (snapshot) => snapshot,
};

/** The actor of one running task. */
export type TaskActor = ActorRefFrom<typeof projection>;
