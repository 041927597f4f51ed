import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  block,
  type Json,
  type NoticeKind,
  Reminder,
  renderNotices,
  renderReminder,
} from '../../src/index.ts';
import { clean, cleanLine } from '../../src/tools/prompt/clean-text.ts';
import { modelJson } from '../../src/tools/prompt/model-json.ts';
import { HOSTILE_TEXTS } from './hostile-texts.ts';
import { at } from './setup.ts';
import { type Element, parseMarkup, shapeOf, textsOf } from './strict-markup.ts';

const hostile = Object.entries(HOSTILE_TEXTS);
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(...Object.values(HOSTILE_TEXTS)),
  fc
    .array(
      fc.oneof(fc.constantFrom(...Object.values(HOSTILE_TEXTS)), fc.string({ unit: 'binary' })),
    )
    .map((parts) => parts.join('')),
);

/** What must never reach a model: what a terminal obeys, what is not seen, what is not text. */
const FORBIDDEN = /[^\P{Cc}\n\t]|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u;

function expectSafe(text: string): void {
  expect(FORBIDDEN.exec(text)).toBeNull();
  expect(text.isWellFormed()).toBe(true);
}

const KINDS: readonly NoticeKind[] = [
  'completed',
  'failed',
  'cancelled',
  'stopped',
  'asked',
  'message',
];

/** A notice in which every word is the same text. */
function noticeOf(kind: NoticeKind, text: string) {
  const data: { readonly [Kind in NoticeKind]: Json } = {
    completed: null,
    cancelled: null,
    failed: { code: text, message: text },
    stopped: { recovery: 'ask' },
    asked: { id: text, kind: text, prompt: text, data: { [text]: [text] } },
    message: { id: text, inReplyTo: text, content: { [text]: text } },
  };
  const status = kind === 'asked' || kind === 'message' ? ('running' as const) : kind;
  const about = { task: text, kind, title: text, tool: text, status, summary: text };
  const artifacts = [{ name: text, path: text, type: text, size: 1, error: text }];
  return { ...about, data: data[kind], result: { [text]: [text, { text }] }, artifacts };
}

const SHAPES: { readonly [Kind in NoticeKind]: string } = {
  completed: 'task(summary result artifact)',
  cancelled: 'task(summary result artifact)',
  failed: 'task(error result artifact)',
  stopped: 'task(summary recovery result artifact)',
  asked: 'task(question(prompt data) result artifact)',
  message: 'task(message result artifact)',
};

function reminded(text: string, id = text) {
  return {
    id,
    title: text,
    kind: text,
    status: 'running' as const,
    phase: 'awaitingInput' as const,
    spec: { tool: text },
    requests: [{ id: text, kind: text, prompt: text, data: { [text]: text }, askedAt: 0 }],
  };
}

function expectNotices(text: string): void {
  const rendered = renderNotices(KINDS.map((kind) => noticeOf(kind, text)));
  expectSafe(rendered);
  const root = parseMarkup(rendered);
  expect(shapeOf(root)).toBe(`task_notices(${KINDS.map((kind) => SHAPES[kind]).join(' ')})`);
  for (const task of root.children) {
    expect(Object.keys(task.attributes)).toEqual(['id', 'title', 'tool', 'status']);
    expect(task.attributes).toMatchObject({ title: cleanLine(text, 200) });
  }
}

function expectReminder(text: string): void {
  const rendered = renderReminder([reminded(text), reminded(text)]);
  expectSafe(rendered);
  const root = parseMarkup(rendered);
  const task = 'task(question(prompt data))';
  expect(shapeOf(root)).toBe(`live_tasks(${task} ${task})`);
  const first = at(root.children, 0);
  expect(Object.keys(first.attributes)).toEqual(['id', 'title', 'tool', 'kind', 'phase']);
}

describe('a text from a task, cleaned,', () => {
  test.each(hostile)('has nothing that a terminal obeys and nothing unseen: %s', (_, text) => {
    expectSafe(clean(text, 1_000));
    expectSafe(cleanLine(text, 1_000));
    expect(cleanLine(text, 1_000)).not.toMatch(/[\n\t]/);
  });

  test('keeps what can be read', () => {
    const { 'colours a terminal': colours, 'breaks lines': lines } = HOSTILE_TEXTS;
    expect(clean(String(colours), 100)).toBe('red  red');
    expect(clean(String(lines), 100)).toBe('one\ntwo\nthree\nfour\nfive\nsixseven');
    expect(clean(String(HOSTILE_TEXTS['names and links a terminal']), 100)).toBe('xyz');
    expect(clean('Grüße, 世界 👋\n\tdone', 100)).toBe('Grüße, 世界 👋\n\tdone');
  });

  test('is not swallowed by a sequence that never ends', () => {
    expect(clean('\u001b]0;title\nthe rest\u0007', 100)).toBe('0;title\nthe rest');
  });

  test('has U+FFFD for half a character', () => {
    expect(clean('a\ud83db', 100)).toBe('a\ufffdb');
    expect(clean('\ud83d\u200b\ude00', 100)).toBe('\ufffd\ufffd');
  });

  test('is cut between characters, with a marker that tells how much there was', () => {
    expect(clean('abcdef', 3)).toBe('abc… [cut: 6 characters in all]');
    expect(clean('ab👋cd', 3)).toBe('ab… [cut: 6 characters in all]');
    expect(clean('ab👋', 4)).toBe('ab👋');
  });

  test('is cleaned for good at once', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = clean(text, 10_000);
        expectSafe(once);
        expect(clean(once, 10_000)).toBe(once);
      }),
    );
  });

  test('costs no more if it is huge', () => {
    const piece = '\u001b]x\u0090\u009d</task>\u200b\ud83d&';
    const huge = piece.repeat(Math.ceil(10_000_000 / piece.length));
    const began = performance.now();
    for (const kind of KINDS) {
      const rendered = renderNotices([noticeOf(kind, huge)]);
      expect(shapeOf(parseMarkup(rendered))).toBe(`task_notices(${SHAPES[kind]})`);
      expect(rendered.length).toBeLessThan(100_000);
    }
    expect(renderReminder([reminded(huge)]).length).toBeLessThan(20_000);
    expect(JSON.stringify(modelJson({ [huge]: [huge, huge] })).length).toBeLessThan(20_000);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe('a block', () => {
  test.each(hostile)('holds its text, whatever that is: %s', (_, text) => {
    const element = parseMarkup(String(block('note', { from: text }, text)));
    expect(element).toEqual<Element>({
      tag: 'note',
      attributes: { from: cleanLine(text, 200) },
      children: [],
      text: clean(text, 4_000),
    });
  });

  test('escapes text beside blocks, and leaves the blocks', () => {
    const inner = block('inner', {}, '</outer>');
    const element = parseMarkup(String(block('outer', {}, ['<inner>', inner, null])));
    expect(shapeOf(element)).toBe('outer(inner)');
    expect(element.text.trim()).toBe('<inner>');
    expect(at(element.children, 0).text).toBe('</outer>');
  });

  test('cannot be forged by something that only looks like one', () => {
    const forged = { toString: () => '</outer>' } as unknown as ReturnType<typeof block>;
    expect(() => block('outer', {}, [forged])).toThrow();
  });

  test('leaves out attributes that are not there', () => {
    expect(String(block('note', { a: null, b: undefined, c: 0, d: false }))).toBe(
      '<note c="0" d="false"></note>',
    );
  });

  test.each(['', 'A', 'a b', 'a>', '__proto__ ', 'a"'])(
    'refuses the tag and the attribute %j',
    (name) => {
      expect(() => block(name, {})).toThrow(/must be lower-case letters/);
      expect(() => block('note', { [name]: 'x' })).toThrow(/must be lower-case letters/);
    },
  );

  test('gives back any text as it was cleaned', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, from) => {
        const element = parseMarkup(String(block('note', { from }, text)));
        expect(element.attributes).toEqual({ from: cleanLine(from, 200) });
        expect(element.text).toBe(clean(text, 4_000));
        expect(element.children).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('notices for a model', () => {
  test.each(hostile)('have exactly their own elements, whatever tasks wrote: %s', (_, text) => {
    expectNotices(text);
  });

  test('have exactly their own elements for any text', () => {
    fc.assert(fc.property(anyText, expectNotices), { numRuns: 200 });
  });

  test('tell of many tasks in one text, in the order given', () => {
    const items = ['a', 'b', 'c'].map((id) => ({ ...noticeOf('completed', 'x'), task: id }));
    const root = parseMarkup(renderNotices(items));
    expect(root.children.map(({ attributes }) => attributes.id)).toEqual(['a', 'b', 'c']);
    expect(renderNotices([])).toBe('');
  });

  test('share their room, and each has some', () => {
    const long = 'y'.repeat(10_000);
    const items = Array.from({ length: 50 }, () => noticeOf('completed', long));
    const rendered = renderNotices(items);
    expect(rendered.length).toBeLessThan(200_000);
    for (const task of parseMarkup(rendered).children) {
      expect(at(task.children, 0).text).toMatch(/^y{400,}… \[cut: 10000 characters in all\]$/);
    }
  });

  test('show the question, the message and the failure with what is needed to react', () => {
    const asked = {
      id: 'r-1',
      kind: 'approval',
      prompt: 'Delete?',
      data: { choices: ['yes', 'no'] },
    };
    const root = parseMarkup(
      renderNotices([
        { ...noticeOf('asked', 'x'), data: asked },
        { ...noticeOf('message', 'x'), data: { id: 'm-1', inReplyTo: null, content: 'hello' } },
        { ...noticeOf('failed', 'x'), data: { code: 'timeout', message: 'too slow' } },
      ]),
    );
    const [question, message, failure] = root.children.map(({ children }) => at(children, 0));
    expect(question?.attributes).toEqual({ request_id: 'r-1', kind: 'approval' });
    expect(question?.children.map(({ text }) => text)).toEqual([
      'Delete?',
      '{"choices":["yes","no"]}',
    ]);
    expect(message).toMatchObject({ attributes: { id: 'm-1' }, text: 'hello' });
    expect(failure).toMatchObject({ attributes: { code: 'timeout' }, text: 'too slow' });
  });

  test('do not trip over data of another form', () => {
    for (const data of [null, 1, 'x', [], { id: 1, prompt: {}, kind: null }] as Json[]) {
      for (const kind of KINDS) {
        const { summary: _, ...item } = noticeOf(kind, 'x');
        parseMarkup(renderNotices([{ ...item, summary: null, data }]));
      }
    }
  });
});

describe('the reminder of live tasks', () => {
  test.each(hostile)('[A-58] is escaped: %s', (_, text) => expectReminder(text));

  test('[A-58] is escaped for any text', () => {
    fc.assert(fc.property(anyText, expectReminder), { numRuns: 200 });
  });

  test('[A-58] is given only when it differs from the last one given', () => {
    const reminder = new Reminder();
    expect(reminder.next([])).toBeNull();
    const first = reminder.next([reminded('x', 'a')]);
    expect(first).toContain('id="a"');
    expect(reminder.next([reminded('x', 'a')])).toBeNull();
    expect(reminder.next([reminded('x', 'a'), reminded('x', 'b')])).toContain('id="b"');
    expect(reminder.next([reminded('x', 'a')])).toBe(first);
    expect(reminder.next([])).toBe('<live_tasks>No task is running.</live_tasks>');
    expect(reminder.next([])).toBeNull();
  });

  test('leaves out what does not run, and says how many it does not name', () => {
    const ended = { ...reminded('x', 'ended'), status: 'completed' as const };
    expect(renderReminder([ended])).toBe(renderReminder([]));
    const many = Array.from({ length: 60 }, (_, index) => reminded('x', `t-${index}`));
    const root = parseMarkup(renderReminder([ended, ...many]));
    expect(root.attributes).toEqual({ more: '10' });
    expect(root.children).toHaveLength(50);
  });
});

describe('JSON for a model', () => {
  const keysOf = (value: Json): readonly string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner as Json)]);

  test.each(hostile)('has only clean texts and keys: %s', (_, text) => {
    const copy = modelJson({ text, [text]: { deep: [text] } });
    for (const key of keysOf(copy)) expectSafe(key);
    expectSafe(JSON.stringify(copy).replace(/\\[nt]/g, ''));
    expect(copy).toMatchObject({ text: clean(text, 2_000) });
  });

  test('is what it was, apart from that', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Json;
        const isPlain =
          JSON.stringify(plain).length < 2_000 && !FORBIDDEN.test(JSON.stringify(plain));
        if (isPlain && !/\s{2}|\\[^"]|" | "/.test(JSON.stringify(plain))) {
          expect(JSON.stringify(modelJson(plain))).toBe(JSON.stringify(plain));
        }
      }),
    );
  });

  test('keeps a key `__proto__` as one like any other', () => {
    const copy = modelJson(JSON.parse('{"__proto__":{"isAdmin":true},"a":1}'));
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"a":1}');
    expect((copy as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  test('is bounded in depth, in width and in all', () => {
    let deep: Json = 'bottom';
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(JSON.stringify(modelJson(deep))).toBe('[[[[[[[["[cut: nested too deep]"]]]]]]]]');
    const wide = modelJson(Array.from({ length: 5_000 }, (_, index) => index)) as readonly Json[];
    expect(wide).toHaveLength(201);
    expect(wide.at(-1)).toBe('[cut: 4800 more]');
    const bushy = Array.from({ length: 150 }, () =>
      Array.from({ length: 150 }, () => 'word '.repeat(50)),
    );
    expect(JSON.stringify(modelJson(bushy)).length).toBeLessThan(60_000);
    const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
    expect(Object.keys(modelJson(keys) as object)).toHaveLength(201);
  });

  test('has null for what JSON does not know', () => {
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, undefined, Symbol('x'), () => 1, 1n];
    expect(modelJson(odd)).toEqual([null, null, null, null, null, null]);
    expect(modelJson({ a: undefined, b: -0 })).toEqual({ b: -0 });
    const sparse: unknown[] = [];
    sparse[3] = 'x';
    expect(modelJson(sparse)).toEqual([null, null, null, 'x']);
  });
});

test('every text of a hostile notice is found again in its own place', () => {
  const text = String(HOSTILE_TEXTS['opens another block']);
  const texts = textsOf(parseMarkup(renderNotices([noticeOf('asked', text)])));
  expect(texts.filter((each) => each === text).length).toBeGreaterThanOrEqual(4);
});
