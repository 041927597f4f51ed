import type { ActorLogic, ActorRefFrom } from 'xstate';
import { taskMachine } from '../../machines/index.ts';
import type { Step, TaskSnapshot } from './decide.ts';

/** A stored step on its way to the actor. */
export interface StepEvent {
  readonly type: string;
  readonly step: Step;
}

/**
 * The logic of a task's actor: the machine as a projection of what is stored. It only takes over
 * the state that was decided and stored before; what the step asks for is done when it shows.
 */
export const projection: ActorLogic<TaskSnapshot, StepEvent, TaskSnapshot> & {
  readonly config: typeof taskMachine.config;
} = {
  // Lets an inspector draw the machine.
  config: taskMachine.config,
  getInitialSnapshot: (_scope, snapshot) => snapshot,
  transition(snapshot, event) {
    // Not a step: xstate itself stops the actor of a task that no longer runs here.
    return 'step' in event ? event.step.snapshot : snapshot;
  },
  getPersistedSnapshot: (snapshot) => snapshot,
};

/** The actor of one running task. */
export type TaskActor = ActorRefFrom<typeof projection>;
