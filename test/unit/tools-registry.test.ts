import { describe, expect, test } from 'vitest';
import { defineTool, type ToolHints, ToolRegistry, toolRegistry } from '../../src/index.ts';
import { codeOfThrown } from './tools-setup.ts';

function named(name: string, text = name, hints: ToolHints = {}) {
  return defineTool({ name, description: `The tool ${text}.`, hints, execute: () => text });
}

const read = named('read');
const write = named('write');

describe('a registry', () => {
  test('[C-20] has the newer of two tools with one name, and lists it once', async () => {
    const registry = toolRegistry(read, write);
    const newer = named('read', 'newer');
    registry.register(newer);
    expect(registry.get('read')).toBe(newer);
    expect(registry.size).toBe(2);
    expect(registry.names()).toEqual(['read', 'write']);
    expect(registry.definitions().map(({ description }) => description)).toEqual([
      'The tool newer.',
      'The tool write.',
    ]);
    const answer = await registry.execute({ id: 'call-1', tool: 'read', args: {} });
    expect(answer.result).toBe('newer');
  });

  test.each([
    ['a registry', () => new ToolRegistry()],
    ['a builder', () => ToolRegistry.builder()],
  ])('[C-21] %s offers get, has, size, names, definitions, unregister and clear', (_name, make) => {
    const tools = make();
    expect([tools.size, tools.names(), tools.definitions()]).toEqual([0, [], []]);
    tools.register(read).register(write);
    expect(tools.get('read')).toBe(read);
    expect(tools.get('other')).toBeUndefined();
    expect([tools.has('write'), tools.has('other')]).toEqual([true, false]);
    expect(tools.size).toBe(2);
    expect(tools.names()).toEqual(['read', 'write']);
    expect([...tools]).toEqual([read, write]);
    expect(tools.definitions().map(({ name }) => name)).toEqual(['read', 'write']);
    expect(tools.unregister('read')).toBe(read);
    expect(tools.unregister('read')).toBeUndefined();
    expect(tools.names()).toEqual(['write']);
    tools.clear();
    expect([tools.size, tools.has('write')]).toEqual([0, false]);
  });

  test('[C-21] is built of what its builder has by then', () => {
    const builder = ToolRegistry.builder().add(read);
    const first = builder.build();
    const second = builder.add(write).build();
    expect(first).toBeInstanceOf(ToolRegistry);
    expect(first.names()).toEqual(['read']);
    expect(second.names()).toEqual(['read', 'write']);
    second.clear();
    expect(builder.size).toBe(2);
  });

  test('hands the options of its builder on', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const broken = defineTool({
      name: 'broken',
      description: 'Breaks.',
      execute: () => Promise.reject('broken'),
    });
    const registry = ToolRegistry.builder({ onError }).add(broken).build();
    await registry.execute({ id: 'call-1', tool: 'broken', args: {} });
    expect(errors).toEqual(['broken']);
  });

  test('knows nothing that was not registered', () => {
    const registry = toolRegistry(read);
    for (const name of ['__proto__', 'constructor', 'toString', '']) {
      expect(registry.has(name)).toBe(false);
      expect(registry.get(name)).toBeUndefined();
    }
  });

  test('takes no tool that a provider would not take', () => {
    const wrong = { ...read, name: 'two words' };
    expect(codeOfThrown(() => toolRegistry(wrong))).toBe('invalid_option');
  });
});

describe('spawn_background', () => {
  const spawn = named('spawn_background', 'spawn', { supportsBackground: true });

  function offered(...hints: readonly ToolHints[]): readonly string[] {
    const others = hints.map((each, index) => named(`tool-${index}`, 'other', each));
    return toolRegistry(spawn, ...others)
      .definitions()
      .map(({ name }) => name);
  }

  test('[C-23] is offered if another tool supports background runs', () => {
    expect(offered({}, { supportsBackground: true })).toEqual([
      'spawn_background',
      'tool-0',
      'tool-1',
    ]);
  });

  test('[C-23] is not offered where no other does, but is still there', () => {
    expect(offered()).toEqual([]);
    expect(offered({}, { supportsBackground: false })).toEqual(['tool-0', 'tool-1']);
    expect(toolRegistry(spawn).has('spawn_background')).toBe(true);
  });

  test('[C-23] comes and goes with such a tool', () => {
    const registry = toolRegistry(spawn, named('long', 'long', { supportsBackground: true }));
    expect(registry.definitions()).toHaveLength(2);
    registry.unregister('long');
    expect(registry.definitions()).toEqual([]);
  });
});
