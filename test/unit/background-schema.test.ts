import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type BackgroundHooks,
  backgroundCapable,
  defineTool,
  type JsonSchema,
  supportsBackground,
  type Tool,
  taskTools,
  toolRegistry,
} from '../../src/index.ts';
import { codeOfThrown } from './tools-setup.ts';

const description = 'For a test.';
const input = z.object({ url: z.string().describe('Where'), depth: z.number().optional() });
const crawl = defineTool({ name: 'crawl', description, input, execute: () => null });

function propertiesOf({ parameters }: Tool): JsonSchema {
  return parameters.properties as JsonSchema;
}

function byHand(parameters: JsonSchema): Tool {
  return backgroundCapable(
    defineTool({ name: 'hand', description, parameters, execute: () => null }),
  );
}

describe('the schema of a background-capable tool', () => {
  test('[A-01] has run_in_background as a boolean, and every other property unchanged', () => {
    const { run_in_background: added, ...others } = propertiesOf(backgroundCapable(crawl));
    expect(added).toMatchObject({ type: 'boolean' });
    expect(others).toEqual(propertiesOf(crawl));
    expect(Object.keys(others)).toEqual(['url', 'depth']);
  });

  test('[A-02] requires what the tool required, and never run_in_background', () => {
    expect(backgroundCapable(crawl).parameters.required).toEqual(['url']);
    const wrapped = byHand({ type: 'object', properties: { a: {} } });
    expect(Object.hasOwn(wrapped.parameters, 'required')).toBe(false);
    const { properties: _, ...before } = crawl.parameters;
    const { properties: __, ...after } = backgroundCapable(crawl).parameters;
    expect(after).toEqual(before);
  });

  test('[A-03] gets properties where it had none', () => {
    const wrapped = byHand({ type: 'object' });
    expect(Object.keys(propertiesOf(wrapped))).toEqual(['run_in_background']);
    expect(Object.keys(propertiesOf(byHand({ properties: {} })))).toEqual(['run_in_background']);
    const bare = defineTool({ name: 'bare', description, execute: () => null });
    expect(Object.keys(propertiesOf(backgroundCapable(bare)))).toEqual(['run_in_background']);
  });

  test('[A-04] says that the call returns at once, that a notice comes, and what may be asked', () => {
    const { description: text } = propertiesOf(backgroundCapable(crawl))
      .run_in_background as JsonSchema;
    for (const word of ['at once', 'task_id', 'notice', 'task_status']) {
      expect(text).toContain(word);
    }
  });

  test('[A-05] gains nothing else, such as a task_id', () => {
    const names = (tool: Tool) => Object.keys(propertiesOf(tool));
    const hooks = { idFromArgs: () => null, idIntoArgs: <Args>(args: Args) => args };
    for (const wrapped of [backgroundCapable(crawl), backgroundCapable(crawl, hooks)]) {
      expect(names(wrapped)).toEqual([...names(crawl), 'run_in_background']);
    }
  });

  test('leaves the tool that was wrapped as it was', () => {
    const before = structuredClone(crawl.parameters);
    const wrapped = backgroundCapable(crawl);
    expect(crawl.parameters).toEqual(before);
    expect([supportsBackground(crawl), supportsBackground(wrapped)]).toEqual([false, true]);
    expect(wrapped).toMatchObject({ name: 'crawl', description, isInline: false });
    const [shown] = toolRegistry(wrapped).definitions();
    expect(shown?.hints).toEqual({ supportsBackground: true });
  });

  test('speaks of the tool to ask with as the model knows it, and of none if there is none', () => {
    const descriptionBeside = (others: readonly Tool[]) => {
      const [definition] = toolRegistry(backgroundCapable(crawl), ...others).definitions();
      return JSON.stringify(definition?.parameters);
    };
    const renamed = taskTools({ names: { task_status: 'job_status' } });
    expect(descriptionBeside(renamed)).toContain('job_status');
    expect(descriptionBeside(taskTools())).toContain('task_status');
    expect(descriptionBeside([])).not.toContain('_status');
  });

  test('is not given to a tool that has such a parameter of its own', () => {
    const input = z.object({ run_in_background: z.string() });
    const own = defineTool({ name: 'own', description: 'Has it.', input, execute: () => null });
    expect(() => backgroundCapable(own)).toThrow('run_in_background');
  });

  test('can be given to a tool twice', () => {
    const twice = backgroundCapable(backgroundCapable(crawl), { type: 'crawl' });
    expect(twice.parameters).toEqual(backgroundCapable(crawl).parameters);
    expect(twice.background).toEqual({ type: 'crawl' });
  });

  test('is not given with hooks that are none', () => {
    const wrong: readonly unknown[] = [
      { type: '' },
      { recovery: 'perhaps' },
      { resumable: 'yes' },
      { prepare: 'no function' },
      { outcome: {} },
    ];
    for (const hooks of wrong) {
      const tool: Tool = crawl;
      const wrap = () => backgroundCapable(tool, hooks as BackgroundHooks);
      expect(codeOfThrown(wrap)).toBe('invalid_option');
    }
  });
});
