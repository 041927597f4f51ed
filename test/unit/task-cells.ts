import { COMMANDS } from '../../docs/generate/commands.ts';
import { LEAVES } from '../../docs/generate/situations.ts';
import type { TaskCommandType, TaskLeaf } from '../../machines/index.ts';
import { ENDED, STOPPED } from './task-cells-ended.ts';
import { CANCELLING, JOINING, STOPPING } from './task-cells-leaving.ts';
import { AWAITING_INPUT, QUEUED, RETRYING, WORKING } from './task-cells-running.ts';
import { type Expectation, rulesOf, type TaskCell } from './task-cells-terms.ts';

/** What must happen in every leaf for every command, written by hand from the design. */
export const TASK_CELLS: {
  readonly [Leaf in TaskLeaf]: { readonly [Command in TaskCommandType]: TaskCell };
} = {
  queued: QUEUED,
  working: WORKING,
  awaitingInput: AWAITING_INPUT,
  retrying: RETRYING,
  joining: JOINING,
  cancelling: CANCELLING,
  stopping: STOPPING,
  completed: ENDED,
  failed: ENDED,
  cancelled: ENDED,
  stopped: STOPPED,
};

export interface NamedCell {
  readonly leaf: TaskLeaf;
  readonly type: TaskCommandType;
  readonly cell: TaskCell;
  /** What a command can lead to, for a title. */
  readonly outcomes: string;
}

export const NAMED_CELLS: readonly NamedCell[] = LEAVES.flatMap((leaf) =>
  COMMANDS.map((type) => {
    const cell = TASK_CELLS[leaf][type];
    return {
      leaf,
      type,
      cell,
      outcomes: rulesOf(cell)
        .map(({ expected }) => inWords(expected))
        .join(' · '),
    };
  }),
);

function inWords(expected: Expectation): string {
  return expected.kind === 'accepted' ? expected.leaf : `refused ${expected.code}`;
}
