import { AsyncLocalStorage } from 'node:async_hooks';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import type { WriteName } from '../points.ts';
import { pass } from './gate.ts';

/** The write of the store on whose behalf SQLite is asked. */
const current = new AsyncLocalStorage<WriteName>();

export function during<Value>(write: WriteName, run: () => Value): Value {
  return current.run(write, run);
}

const CHANGES = /^\s*(INSERT|UPDATE|DELETE|REPLACE)\b/i;
const changing = new WeakSet<StatementSync>();

/** Every statement that changes something is a point inside its transaction: COMMIT comes later. */
function reach(statement: StatementSync): void {
  const write = current.getStore();
  if (write !== undefined && changing.has(statement)) pass(`${write} inside`);
}

const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (...args) {
  const statement = prepare.apply(this, args);
  if (CHANGES.test(args[0])) changing.add(statement);
  return statement;
};

for (const name of ['run', 'get', 'all'] as const) {
  const original = StatementSync.prototype[name];
  Object.defineProperty(StatementSync.prototype, name, {
    value(this: StatementSync, ...args: unknown[]): unknown {
      const result: unknown = Reflect.apply(original, this, args);
      reach(this);
      return result;
    },
  });
}
