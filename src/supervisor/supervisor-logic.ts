import { type ActorLogic, type ActorRefFrom, createActor, type SnapshotFrom } from 'xstate';
import { type SupervisorEvent, supervisorMachine } from '../../machines/index.ts';
import type { Cell } from './cell.ts';
import type { TaskSnapshot } from './decide.ts';
import { projection } from './projection.ts';

type SupervisorSnapshot = SnapshotFrom<typeof supervisorMachine>;

/** Inspectors read `ADOPT` and `DISMISS` to learn which task an actor stands for. */
type LogicEvent =
  | SupervisorEvent
  | { readonly type: 'ADOPT'; readonly cell: Cell; readonly snapshot: TaskSnapshot }
  | { readonly type: 'DISMISS'; readonly cell: Cell };

type Logic = ActorLogic<SupervisorSnapshot, LogicEvent, { readonly owner: string }> & {
  readonly config: typeof supervisorMachine.config;
};

/**
 * The logic of a supervisor: its machine, and the actors of its tasks in a map of its own. xstate's
 * `spawnChild` would copy all children for each new one, and the machine would remember the done
 * event of every child for good; so children are made here, and the machine only hears of the first
 * and the last.
 */
export function supervisorLogic(cells: Map<string, Cell>): Logic {
  type Scope = Parameters<Logic['transition']>[2];

  const toMachine = (snapshot: SupervisorSnapshot, event: SupervisorEvent, scope: Scope) =>
    supervisorMachine.transition(
      snapshot,
      event,
      scope as Parameters<typeof supervisorMachine.transition>[2],
    ) as SupervisorSnapshot;

  return {
    config: supervisorMachine.config,
    getInitialSnapshot: (scope, input) =>
      supervisorMachine.getInitialSnapshot(
        scope as Parameters<typeof supervisorMachine.getInitialSnapshot>[0],
        input,
      ),
    getPersistedSnapshot: (snapshot) => snapshot,
    transition(snapshot, event, scope) {
      switch (event.type) {
        case 'ADOPT': {
          const { cell } = event;
          const actor = createActor(projection, {
            parent: scope.self,
            id: cell.id,
            input: event.snapshot,
          });
          cell.actor = actor;
          cells.set(cell.id, cell);
          actor.start();
          return cells.size === 1
            ? toMachine(snapshot, { type: 'FIRST_TASK_ARRIVED' }, scope)
            : snapshot;
        }
        case 'DISMISS': {
          const { cell } = event;
          if (cell.actor) scope.stopChild(cell.actor);
          cell.actor = null;
          if (!cells.delete(cell.id) || cells.size > 0) return snapshot;
          return toMachine(snapshot, { type: 'LAST_TASK_LEFT' }, scope);
        }
        case 'FIRST_TASK_ARRIVED':
        case 'LAST_TASK_LEFT':
        case 'WATCHED':
        case 'UNWATCHED':
        case 'CLOSE':
          return toMachine(snapshot, event, scope);
        default:
          // The done event of a child: its cell dismisses it.
          return snapshot;
      }
    },
  };
}

/** The actor of one owner thread. */
export type SupervisorActor = ActorRefFrom<Logic>;
