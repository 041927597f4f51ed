import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  isOffstageError,
  type JsonSchema,
  type Schema,
  supportsBackground,
  type ToolHints,
  toolRegistry,
} from '../../src/index.ts';

const description = 'For a test.';
const CALL = { id: 'call-1', tool: 'work', args: { page: 7 } };

type Options = Parameters<typeof defineTool>[0];

/** A tool with these options beside those that it needs. */
function toolWith(options: Partial<Options> = {}) {
  return defineTool({ name: 'work', description, execute: () => null, ...options } as Options);
}

function withHints(hints: ToolHints) {
  return toolWith({ hints });
}

function problemOf(define: () => unknown): unknown {
  try {
    define();
  } catch (error) {
    if (isOffstageError(error, 'invalid_option')) return error.details.option;
    throw error;
  }
  return 'none';
}

describe('a tool that declares nothing', () => {
  test('[C-15] has no title, policy `auto`, no hints, no narration, no background', () => {
    const tool = toolWith();
    expect(tool).toMatchObject({
      title: null,
      requiresContext: false,
      policy: 'auto',
      background: null,
      deferrable: false,
      isInline: false,
      resumable: false,
    });
    expect(tool.hints).toEqual({});
    expect(tool.limits).toEqual({});
    expect(supportsBackground(tool)).toBe(false);
    expect(tool.needsApproval({})).toBe(false);
    for (const phase of ['started', 'completed', 'failed', 'cancelled'] as const) {
      expect(tool.narrate(CALL, phase, 'en')).toBeNull();
    }
  });

  test('[C-15] needs no context', async () => {
    const answer = await toolRegistry(toolWith({ execute: () => 'ran' })).execute(CALL);
    expect(answer.result).toBe('ran');
  });
});

describe('a narration', () => {
  const tool = toolWith({
    narrate: {
      started: ({ args }, locale) =>
        locale === 'de' ? `Lese Seite ${page(args)}` : `Reading page ${page(args)}`,
      completed: 'Read the page',
      failed: () => undefined,
      cancelled: () => {
        throw new Error('no text');
      },
    },
  });

  function page(args: unknown): unknown {
    return (args as { readonly page: number }).page;
  }

  test('[C-17] is the text for the phase and the locale of a call', () => {
    expect(tool.narrate(CALL, 'started', 'en')).toBe('Reading page 7');
    expect(tool.narrate(CALL, 'started', 'de')).toBe('Lese Seite 7');
    expect(tool.narrate(CALL, 'completed', 'de')).toBe('Read the page');
  });

  test('[C-17] is none where there is no text for it, or none can be made', () => {
    expect(tool.narrate(CALL, 'failed', 'en')).toBeNull();
    expect(tool.narrate(CALL, 'cancelled', 'en')).toBeNull();
    expect(toolWith({ narrate: { started: 'x' } }).narrate(CALL, 'failed', 'en')).toBeNull();
    expect(tool.narrate(CALL, 'constructor' as 'failed', 'en')).toBeNull();
    const wrong = (() => 12) as unknown as () => string;
    expect(toolWith({ narrate: { started: wrong } }).narrate(CALL, 'started', 'en')).toBeNull();
  });
});

describe('a hint', () => {
  test('[C-18] has three values: yes, no and not said', () => {
    for (const hint of ['readonly', 'idempotent', 'supportsBackground'] as const) {
      for (const value of [true, false]) {
        expect(withHints({ [hint]: value }).hints).toEqual({ [hint]: value });
      }
      const unsaid = { [hint]: undefined } as unknown as ToolHints;
      expect(Object.keys(withHints(unsaid).hints)).toEqual([]);
    }
  });

  test('[C-18] counts as background support only if it is yes', () => {
    expect(supportsBackground(withHints({ supportsBackground: true }))).toBe(true);
    expect(supportsBackground(withHints({ supportsBackground: false }))).toBe(false);
    expect(supportsBackground(withHints({}))).toBe(false);
    expect(supportsBackground(withHints({ idempotent: true, readonly: true }))).toBe(false);
    expect(supportsBackground({ hints: { supportsBackground: 1 as unknown as boolean } })).toBe(
      false,
    );
  });

  test('[C-85] of destruction, length or output is in the definition as declared', () => {
    for (const hint of ['destructive', 'longRunning', 'persistOutput'] as const) {
      for (const value of [true, false]) {
        const [definition] = toolRegistry(withHints({ [hint]: value })).definitions();
        expect(definition?.hints).toEqual({ [hint]: value });
      }
    }
    const [silent] = toolRegistry(withHints({})).definitions();
    expect(silent?.hints).toEqual({});
  });
});

describe('the definition of a tool', () => {
  const tool = defineTool({
    name: 'fetch_page',
    title: 'Fetch a page',
    description: 'Fetches a page.',
    input: z.object({ url: z.string(), depth: z.number().optional() }),
    policy: 'approval',
    deferrable: true,
    hints: { readonly: true },
    execute: () => null,
  });
  const expected = {
    name: 'fetch_page',
    title: 'Fetch a page',
    description: 'Fetches a page.',
    parameters: {
      type: 'object',
      properties: { url: { type: 'string' }, depth: { type: 'number' } },
      required: ['url'],
    },
    policy: 'approval',
    deferrable: true,
    hints: { readonly: true },
  };

  test('[C-19] holds name, title, description, parameters, policy, deferrable and hints', () => {
    expect(toolRegistry(tool).definitions()).toEqual([expected]);
  });

  test('is a copy that a client may change', () => {
    const registry = toolRegistry(tool);
    const [definition] = registry.definitions();
    Object.assign(definition?.parameters ?? {}, { strict: true });
    Object.assign(definition?.hints ?? {}, { destructive: true });
    expect(registry.definitions()).toEqual([expected]);
  });
});

describe('the parameters of a tool', () => {
  function parametersOf(options: Partial<Options>): JsonSchema {
    return toolWith(options).parameters;
  }

  test('are those of an object without properties where there is no schema', () => {
    expect(parametersOf({})).toEqual({ type: 'object', properties: {} });
  });

  test('are what the model may send, not what the tool gets', () => {
    const input = z.object({ times: z.number().default(1), at: z.string().transform(Number) });
    expect(parametersOf({ input })).toMatchObject({
      properties: { times: { type: 'number', default: 1 }, at: { type: 'string' } },
      required: ['at'],
    });
  });

  test('are open where JSON has no word for a type', () => {
    const input = z.object({ at: z.coerce.date(), day: z.date(), big: z.bigint() });
    expect(parametersOf({ input }).properties).toEqual({ at: {}, day: {}, big: {} });
  });

  test('are those of an object, also for a choice of objects', () => {
    const input = z.union([z.object({ id: z.string() }), z.object({ name: z.string() })]);
    expect(parametersOf({ input })).toMatchObject({ type: 'object', anyOf: [{}, {}] });
  });

  test('can be given by hand', () => {
    const parameters = { type: 'object', properties: { q: { type: 'string' } } };
    expect(parametersOf({ parameters })).toEqual(parameters);
    expect(parametersOf({ parameters, input: foreign() })).toEqual(parameters);
  });

  test('must be those of an object', () => {
    expect(problemOf(() => parametersOf({ input: z.string() }))).toBe('input');
    expect(problemOf(() => parametersOf({ parameters: { type: 'string' } }))).toBe('parameters');
    const noSchema = 'object' as unknown as JsonSchema;
    expect(problemOf(() => parametersOf({ parameters: noSchema }))).toBe('parameters');
  });

  test('must be given by hand where the schema cannot give them', () => {
    const throwing = foreign(() => {
      throw new Error('not this one');
    });
    for (const input of [foreign(), throwing]) {
      expect(problemOf(() => parametersOf({ input }))).toBe('input');
      expect(() => parametersOf({ input })).toThrow('pass one by hand as `parameters`');
    }
  });

  /** A schema of a library that knows no JSON Schema, or fails to make one. */
  function foreign(input?: () => never): Schema {
    const standard = { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) };
    const jsonSchema = input && { input, output: input };
    return { '~standard': { ...standard, ...(jsonSchema && { jsonSchema }) } } as Schema;
  }
});

describe('an option of a tool', () => {
  test('is refused where it cannot be used', () => {
    const wrong: readonly [string, object][] = [
      ['name', { name: 'two words' }],
      ['name', { name: '' }],
      ['name', { name: 'x'.repeat(65) }],
      ['name', { name: 'dotted.name' }],
      ['name', { name: 12 }],
      ['title', { title: 12 }],
      ['description', { description: undefined }],
      ['policy', { policy: 'never' }],
      ['hints.readonly', { hints: { readonly: 'yes' } }],
      ['narrate', { narrate: 'Working' }],
      ['timeoutMs', { timeoutMs: -1 }],
      ['stallMs', { stallMs: Number.NaN }],
      ['graceMs', { graceMs: '1' }],
      ['approvalMs', { approvalMs: -1 }],
      ['restart', { restart: 'always' }],
      ['restart.maxAttempts', { restart: { maxAttempts: -1 } }],
      ['execute', { execute: undefined }],
      ['execute', { policy: 'client' }],
      ['approveWhen', { approveWhen: true }],
    ];
    for (const [option, options] of wrong) {
      expect(problemOf(() => toolWith(options as Partial<Options>))).toBe(option);
    }
  });

  test('is kept where it is for the task of a call', () => {
    const limits = { timeoutMs: 1, stallMs: 2, graceMs: 3, restart: 'transient', approvalMs: 4 };
    const tool = toolWith({ ...limits, resumable: true } as Partial<Options>);
    expect(tool.limits).toEqual(limits);
    expect(tool.resumable).toBe(true);
  });

  test('says which calls must be approved', () => {
    const picky = defineTool({
      name: 'remove',
      description,
      input: z.object({ path: z.string() }),
      approveWhen: ({ path }) => path.startsWith('/etc'),
      execute: () => null,
    });
    expect(picky.needsApproval({ path: '/etc/hosts' })).toBe(true);
    expect(picky.needsApproval({ path: '/tmp/x' })).toBe(false);
    expect(toolWith({ policy: 'approval' }).needsApproval({})).toBe(true);
    const later = (async () => false) as unknown as () => boolean;
    expect(toolWith({ approveWhen: later }).needsApproval({})).toBe(true);
  });
});
