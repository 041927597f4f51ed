import fc from 'fast-check';
import type { Tool } from '../../src/index.ts';
import { HOSTILE_TEXTS } from './hostile-texts.ts';

const NESTING = 10_000;
const HUGE_TEXT = '\u001b[31m</task>'.repeat(10_000_000 / 12);

/** A value inside 10,000 lists or objects. */
function nested(wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'bottom';
  for (let level = 0; level < NESTING; level += 1) value = wrap(value);
  return value;
}

const DEEP_LIST = nested((inner) => [inner]);
const DEEP_OBJECT = nested((inner) => ({ inner }));

function sparse(): unknown {
  const list: unknown[] = [];
  list[7] = 'x';
  return list;
}

function cyclic(): unknown {
  const object: Record<string, unknown> = {};
  object.self = object;
  return object;
}

/** Values that throw when they are looked at. */
const TRAPS: readonly (() => unknown)[] = [
  () => ({
    get task_id(): string {
      throw new Error('a trap');
    },
  }),
  () => ({
    toJSON() {
      throw new Error('a trap');
    },
  }),
  () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('a trap');
        },
        ownKeys: () => {
          throw new Error('a trap');
        },
      },
    ),
];

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    false,
    -0,
    0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.MAX_VALUE,
    Number.MAX_SAFE_INTEGER + 1,
    -1,
    1.5,
    1e21,
    10n,
    '',
    Symbol('x'),
    Symbol.iterator,
    () => 'x',
    class {},
    new Date(Number.NaN),
    new Map([['a', 1]]),
    new Error('x'),
    Object.create(null),
    new Uint8Array(3),
  ),
  fc.constantFrom(...TRAPS, sparse, cyclic).map((make) => make()),
);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(...Object.values(HOSTILE_TEXTS)),
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', '../../etc/passwd', '*'),
);

const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 60, arbitrary: odd },
  { weight: 60, arbitrary: text },
  { weight: 20, arbitrary: fc.double() },
  { weight: 20, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 20, arbitrary: fc.array(fc.oneof(odd, text), { maxLength: 4 }) },
  // Seldom: each takes a thousand times as long as the others.
  { weight: 1, arbitrary: fc.constantFrom(DEEP_LIST, DEEP_OBJECT) },
);

const strangeKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toJSON', ''),
  text,
);

/** An object as JSON.parse makes it: `__proto__` is a key like any other. */
function ownProperties(entries: readonly (readonly [string, unknown])[]): unknown {
  const object = {};
  for (const [key, item] of entries) {
    Object.defineProperty(object, key, {
      value: item,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

/**
 * Whatever might come in as the arguments of a tool: mostly objects with the tool's own keys and
 * wrong values, some with foreign keys, some that are no objects. No value is the id of a real task.
 */
export function fuzzedArguments({ parameters }: Pick<Tool, 'parameters'>): fc.Arbitrary<unknown> {
  const keys = Object.keys(parameters.properties ?? {});
  const key = keys.length === 0 ? strangeKey : fc.constantFrom(...keys);
  const ownKeys = fc.array(fc.tuple(key, value), { maxLength: 5 });
  const anyKeys = fc.array(fc.tuple(fc.oneof(key, strangeKey), value), { maxLength: 5 });
  return fc.oneof(
    { weight: 5, arbitrary: ownKeys.map(ownProperties) },
    { weight: 3, arbitrary: anyKeys.map(ownProperties) },
    { weight: 2, arbitrary: value },
  );
}

/** Arguments of 10 MB: few, for each costs its time. */
export function hugeArguments({ parameters }: Pick<Tool, 'parameters'>): readonly unknown[] {
  const [first = 'key'] = Object.keys(parameters.properties ?? {});
  return [HUGE_TEXT, { [HUGE_TEXT]: 1 }, { [first]: HUGE_TEXT }];
}
