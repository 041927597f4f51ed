import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandIn } from '../../docs/generate/commands.ts';
import { factsIn, recordIn } from '../../docs/generate/records.ts';
import type { Situation } from '../../docs/generate/situations.ts';
import type { TaskCommandType, TaskLeaf } from '../../machines/index.ts';
import { decide, snapshotOf } from '../../src/supervisor/decide.ts';
import { scenesOf } from './cells-on-stage.ts';
import { NAMED_CELLS } from './task-cells.ts';

const folder = new URL('../../machines/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));

describe.each(files)('machines/%s', (file) => {
  const source = readFileSync(new URL(file, folder), 'utf8');
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

  it('imports only xstate and its neighbours', () => {
    const imported = [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(
      (found) => found[1],
    );
    const foreign = imported.filter(
      (name) => name !== 'xstate' && !/^\.\/[\w-]+\.ts$/.test(`${name}`),
    );
    expect(foreign).toEqual([]);
  });

  it('has no clock, no chance, no timer and no I/O', () => {
    const impure =
      /\b(Date|Temporal|performance|random|randomUUID|crypto|setTimeout|setInterval|setImmediate|queueMicrotask|process|console|fetch|globalThis|after|invoke|sendTo|raise|spawnChild)\b/g;
    expect(code.match(impure) ?? []).toEqual([]);
  });
});

describe('a decision', () => {
  it.each(NAMED_CELLS)('on $leaf × $type is the same twice and changes nothing', (named) => {
    for (const situation of scenesOf(named.leaf, named.cell)) {
      const { first, second } = decideTwice(named.leaf, named.type, situation);
      expect(second).toEqual(first);
    }
  });
});

/** All that goes in is frozen, so a decision that wrote to it would throw. */
function decideTwice(leaf: TaskLeaf, type: TaskCommandType, situation: Situation) {
  const record = deepFreeze(recordIn(leaf, situation));
  const snapshot = snapshotOf(record);
  deepFreeze(snapshot.context);
  const command = deepFreeze(commandIn(type, situation, record.epoch));
  const facts = deepFreeze(factsIn(situation));
  const once = () => {
    const step = decide(snapshot, command, facts);
    if (step === undefined) return null;
    const { value, context, status } = step.snapshot;
    return { value, context, status, emitted: step.emitted, effects: step.effects };
  };
  return { first: once(), second: once() };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
