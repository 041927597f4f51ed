import type {
  EndEvent,
  Json,
  Lagged,
  Progress,
  Runtime,
  Supervisor,
  TaskEvent,
  TaskEventType,
  TaskFailure,
  TaskHandle,
} from 'offstage';
import { toAsyncIterable } from 'offstage';
import type { Observable } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';

declare const event: TaskEvent;
declare const task: TaskHandle;

describe('an event', () => {
  test('is narrowed by its type', () => {
    switch (event.type) {
      case 'created':
        expectTypeOf(event.definition).toEqualTypeOf<string>();
        break;
      case 'progress':
        expectTypeOf(event.progress).toEqualTypeOf<Progress>();
        break;
      case 'output':
        expectTypeOf(event.text).toEqualTypeOf<string>();
        expectTypeOf(event.offset).toEqualTypeOf<number>();
        break;
      case 'asked':
        expectTypeOf(event.request.prompt).toEqualTypeOf<string>();
        break;
      case 'completed':
        expectTypeOf(event.output).toEqualTypeOf<Json>();
        break;
      case 'failed':
        expectTypeOf(event.failure).toEqualTypeOf<TaskFailure>();
        break;
      case 'cancelled':
        expectTypeOf(event.reason).toEqualTypeOf<string | null>();
        // @ts-expect-error a cancelled task has no output
        event.output;
        break;
    }
  });

  test('tells whose it is and its place whatever its type', () => {
    expectTypeOf(event.task).toEqualTypeOf<string>();
    expectTypeOf(event.seq).toEqualTypeOf<number>();
    // @ts-expect-error only some events have a failure
    event.failure;
  });

  test('has no type outside the list', () => {
    expectTypeOf<'started'>().toExtend<TaskEventType>();
    expectTypeOf<'reported'>().not.toExtend<TaskEventType>();
    // @ts-expect-error there is no such event
    event.type === 'finished';
  });

  test('cannot be changed', () => {
    // @ts-expect-error readonly
    event.seq = 2;
  });

  test('that ends a task has one of four types', () => {
    expectTypeOf<EndEvent['type']>().toEqualTypeOf<
      'completed' | 'failed' | 'cancelled' | 'stopped'
    >();
  });
});

describe('a stream', () => {
  test('is the same for a task, an owner and a runtime', () => {
    type Events = Observable<TaskEvent>;
    expectTypeOf(task.events$).toEqualTypeOf<Events>();
    expectTypeOf<Supervisor['events$']>().toEqualTypeOf<Events>();
    expectTypeOf<Runtime['events$']>().toEqualTypeOf<Events>();
  });

  test('that is read with for await may say what was dropped', async () => {
    for await (const item of task.events({ since: 3 })) {
      expectTypeOf(item).toEqualTypeOf<TaskEvent | Lagged>();
      if (item.type === 'lagged') expectTypeOf(item).toEqualTypeOf<Lagged>();
      else expectTypeOf(item).toEqualTypeOf<TaskEvent>();
    }
    for await (const item of toAsyncIterable(task.events$)) {
      expectTypeOf(item).toEqualTypeOf<TaskEvent | Lagged>();
    }
  });
});
