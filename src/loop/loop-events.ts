import { merge, type Observable } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import type { InputRequest } from '../../machines/index.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Change } from '../runtime/thread.ts';
import { answerOfRecord } from '../tools/call/record-answer.ts';
import type { ToolAnswer } from '../tools/result/tool-answer.ts';
import { type Approval, approvalOf, isGate } from './approval.ts';
import { type TaskView, viewOf } from './task-view.ts';
import type { ContinueRequest } from './wake-up.ts';

/** What a host sees happen. Tell them apart by `type`. */
export type LoopEvent =
  | { readonly type: 'started' | 'detached'; readonly task: TaskView }
  | {
      readonly type: 'completed' | 'failed' | 'cancelled' | 'stopped';
      readonly task: TaskView;
      readonly answer: ToolAnswer;
    }
  | { readonly type: 'approval'; readonly task: TaskView; readonly approval: Approval }
  | { readonly type: 'input'; readonly task: TaskView; readonly request: InputRequest }
  | ({ readonly type: 'continueRequested' } & ContinueRequest);

/** What happens to the owner's tasks, in the words of a host. */
export function loopEvents(
  engine: Engine,
  owner: string,
  requests$: Observable<ContinueRequest>,
): Observable<LoopEvent> {
  const changes$ = engine.stream<Change>((subscriber) => {
    const { thread, unwatch } = engine.watch(owner);
    const subscription = thread.changes.values$.subscribe(subscriber);
    subscription.add(unwatch);
    return subscription;
  });
  return engine.stream<LoopEvent>((subscriber) =>
    merge(
      changes$.pipe(
        map(eventOf),
        filter((event) => event !== null),
      ),
      requests$.pipe(map((request) => ({ type: 'continueRequested' as const, ...request }))),
    ).subscribe(subscriber),
  );
}

function eventOf({ event, record }: Change): LoopEvent | null {
  const { type } = event;
  switch (type) {
    case 'started':
    case 'detached':
      return { type, task: viewOf(record) };
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'stopped':
      return { type, task: viewOf(record), answer: answerOfRecord(record) };
    case 'asked': {
      const { request } = event;
      if (!isGate(request)) return { type: 'input', task: viewOf(record), request };
      return { type: 'approval', task: viewOf(record), approval: approvalOf(record, request) };
    }
    default:
      return null;
  }
}
