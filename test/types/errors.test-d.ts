import { type ErrorCode, isOffstageError, OffstageError, type TaskFailure } from 'offstage';
import { describe, expectTypeOf, test } from 'vitest';

declare const error: unknown;

describe('isOffstageError', () => {
  test('with a code gives the details of that code', () => {
    if (isOffstageError(error, 'task_failed')) {
      expectTypeOf(error.code).toEqualTypeOf<'task_failed'>();
      expectTypeOf(error.details.failure).toEqualTypeOf<TaskFailure>();
      expectTypeOf(error.details.taskId).toEqualTypeOf<string>();
      // @ts-expect-error a failed task has no issues
      error.details.issues;
    }
    if (isOffstageError(error, 'task_stopped')) {
      expectTypeOf(error.details.resumable).toEqualTypeOf<boolean>();
    }
    if (isOffstageError(error, 'limit_reached')) {
      expectTypeOf(error.details.limit).toEqualTypeOf<number>();
    }
  });

  test('tells several codes apart one after the other', () => {
    if (isOffstageError(error, 'task_cancelled')) {
      expectTypeOf(error.details.reason).toEqualTypeOf<string | null>();
    } else if (isOffstageError(error, 'invalid_input')) {
      expectTypeOf(error.details.issues[0]?.path).toEqualTypeOf<string | undefined>();
    } else {
      expectTypeOf(error).toBeUnknown();
    }
  });

  test('without a code gives any OffstageError', () => {
    if (isOffstageError(error)) {
      expectTypeOf(error).toExtend<OffstageError>();
      if (error.code === 'task_failed') expectTypeOf(error.details.failure.code).toBeString();
      expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
    }
  });

  test('refuses a code that does not exist', () => {
    // @ts-expect-error there is no such code
    isOffstageError(error, 'task_lost');
  });
});

describe('an OffstageError', () => {
  test('is made with the details of its code', () => {
    expectTypeOf(
      new OffstageError('unknown_task', 'There is no such task.', { taskId: 'a' }),
    ).toEqualTypeOf<OffstageError<'unknown_task'>>();
    // @ts-expect-error the details of another code
    new OffstageError('unknown_task', 'There is no such task.', { limit: 1 });
  });

  test('of one code stands where any may', () => {
    expectTypeOf<OffstageError<'fenced'>>().toExtend<OffstageError>();
    expectTypeOf<OffstageError<'fenced'>>().toExtend<Error>();
    expectTypeOf<OffstageError>().not.toExtend<OffstageError<'fenced'>>();
  });
});
