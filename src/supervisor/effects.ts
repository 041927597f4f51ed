import type { Cell } from './cell.ts';
import type { Step } from './decide.ts';
import { Executor } from './executor.ts';
import { abortReason } from './reasons.ts';

/** Does what a stored step asks for, once the actor shows the new state. */
export function perform(cell: Cell, { effects, command }: Step): void {
  for (const effect of effects) {
    switch (effect) {
      case 'startExecutor':
        start(cell);
        break;
      case 'abortExecutor':
        cell.executor?.abort(abortReason(command, cell.id));
        break;
      case 'deliverAnswer':
        if (command.type !== 'ANSWER') break;
        cell.executor?.deliverAnswer(command.requestId, command.value);
        break;
      case 'deliverMessage':
        cell.executor?.deliverMessages();
        break;
      case 'joinChildren':
        if (cell.definition.children === 'cancel') cell.host.cascade(cell, 'CANCEL', 'is done');
        break;
      case 'cascadeCancel':
        cell.host.cascade(cell, 'CANCEL', 'was cancelled');
        break;
      case 'cascadeStop':
        cell.host.cascade(cell, 'STOP', 'was stopped');
        break;
    }
  }
}

/** The body runs in its own turn: by then its start has been published. */
function start(cell: Cell): void {
  const executor = new Executor(cell);
  cell.executor = executor;
  queueMicrotask(() => executor.run());
}
