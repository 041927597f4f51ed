import { describe, expect, test } from 'vitest';
import { type CallScope, defineTask, type ToolAnswer, toolRegistry } from '../../src/index.ts';
import { openTools, quickTool, startedBy, steeredTool } from './background-setup.ts';
import { openStage } from './setup.ts';

describe('the record of a call', () => {
  test('[A-11] belongs to the calling thread', async () => {
    const work = steeredTool();
    const { call, runtime, thread, settle } = await openTools(work.tool);
    const other = runtime.supervisor('thread-2');
    const id = startedBy(await call({ run_in_background: true }, { thread: other }));
    void call({}, { thread });
    await settle();
    expect((await other.get(id)).owner).toBe('thread-2');
    expect((await other.list()).map((task) => task.id)).toEqual([id]);
    expect((await thread.list()).map(({ owner }) => owner)).toEqual([thread.owner]);
    expect(work.runs.map(({ context }) => context.owner)).toEqual(['thread-2', thread.owner]);
  });

  test('[A-11] is not made for a call without a thread, which is refused in either mode', async () => {
    const work = steeredTool();
    const tools = toolRegistry(work.tool);
    const scopes: readonly unknown[] = [
      undefined,
      {},
      { thread: undefined },
      { thread: { owner: 'thread-1' } },
    ];
    for (const scope of scopes) {
      for (const args of [{}, { run_in_background: true }]) {
        const call = { id: 'call-1', tool: 'work', args };
        const answer = await tools.execute(call, scope as CallScope | undefined);
        expect(answer).toMatchObject({ isError: true, code: 'missing_scope', task: null });
      }
    }
    expect(work.runs).toEqual([]);
  });

  test('[A-12] names the task in which the call runs as its parent, or none', async () => {
    const tools = toolRegistry(quickTool(() => 'done'));
    const answers: ToolAnswer[] = [];
    const outer = defineTask({
      name: 'outer',
      async run({ id }) {
        const thread = stage.runtime.supervisor('thread-1');
        for (const run_in_background of [true, false]) {
          const call = { id: 'call-1', tool: 'work', args: { run_in_background } };
          answers.push(await tools.execute(call, { thread }));
        }
        // Another thread is no place for a child of this task.
        const apart = stage.runtime.supervisor('thread-2');
        answers.push(await tools.execute({ id, tool: 'work', args: {} }, { thread: apart }));
      },
    });
    const stage = await openStage({ tasks: [outer] });
    const parent = await stage.thread.spawn(outer);
    await parent.result();
    const [background, foreground, elsewhere] = answers.map(({ task }) => task ?? '');
    const parentOf = async (owner: string, id = '') => (await stage.store.load(owner, id))?.parent;
    expect(await parentOf('thread-1', background)).toBe(parent.id);
    expect(await parentOf('thread-1', foreground)).toBe(parent.id);
    expect(await parentOf('thread-2', elsewhere)).toBe(null);
    const { thread } = stage;
    const alone = await tools.execute({ id: 'call-1', tool: 'work', args: {} }, { thread });
    expect(await parentOf('thread-1', alone.task ?? '')).toBe(null);
  });

  test('[A-13] carries the type of the tool, which lists show and filter by', async () => {
    const work = steeredTool({ hooks: { type: 'agent_run' } });
    const { call, thread, settle } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    void call({});
    await settle();
    const listed = await thread.list();
    expect(listed.map((task) => task.snapshot().kind)).toEqual(['agent_run', 'agent_run']);
    const found = await thread.list({ kind: 'agent_run' });
    expect(found.map((task) => task.id)).toContain(id);
    expect(await thread.list({ kind: 'shell' })).toEqual([]);
  });

  test('[A-14] of a tool that says nothing is not resumable and has metadata {}', async () => {
    const work = steeredTool({ hooks: { idFromArgs: ({ id }) => String(id ?? '') || null } });
    const { call, thread, load, settle } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    const { resumable, metadata } = (await load(id)) ?? {};
    expect({ resumable, metadata }).toEqual({ resumable: false, metadata: {} });
    await (await thread.get(id)).stop();
    await settle();
    expect((await call({ id })).result).toMatchObject({ status: 'stopped' });
    expect(work.runs).toHaveLength(1);
  });

  test.each([
    [{ description: 'Walk', command: 'walk' }, 'Walk'],
    [{ description: '  \n', command: 'walk' }, 'walk'],
    [{ description: 12, command: 'walk' }, 'walk'],
    [{ description: null, command: ' walk ' }, ' walk '],
    [{ command: '' }, 'work'],
    [{ command: ['walk'] }, 'work'],
    [{}, 'work'],
  ])('[A-17] describes %j as %j', async (args, text) => {
    const { call, load } = await openTools(quickTool(() => null));
    const { task } = await call(args);
    expect((await load(task ?? ''))?.description).toBe(text);
  });

  test('[A-17] takes the words of the tool before those, unless they are blank', async () => {
    const hooks = { describe: ({ url }: { readonly url?: unknown }) => String(url) };
    const { call, load } = await openTools(quickTool(() => null, hooks));
    const said = async (url: string) => {
      const { task } = await call({ url, description: 'Walk' });
      return (await load(task ?? ''))?.description;
    };
    expect(await said('of a site')).toBe('of a site');
    expect(await said('  ')).toBe('Walk');
  });

  test('takes a text of any length', async () => {
    const { call, load } = await openTools(quickTool(() => null));
    const { task, isError } = await call({ command: 'x'.repeat(100_000) });
    expect(isError).toBe(false);
    expect((await load(task ?? ''))?.description?.length).toBeLessThan(5_000);
  });

  test('[A-18] says (background) where that is true, and only there', async () => {
    const { call, load } = await openTools(quickTool(() => null));
    const background = startedBy(await call({ command: 'walk', run_in_background: true }));
    expect((await load(background))?.description).toBe('walk (background)');
    const { task } = await call({ command: 'walk' });
    expect((await load(task ?? ''))?.description).toBe('walk');
  });

  test('[A-28] holds id, owner, type, description, parent, resumable, metadata and attempt 1', async () => {
    const work = steeredTool({
      hooks: { type: 'crawl', resumable: true, metadata: ({ url = null }) => ({ url }) },
    });
    const { call, load, thread } = await openTools(work.tool);
    const scope = { id: 'crawl-1', turn: 'turn-1' };
    await call({ url: 'a', command: 'walk', run_in_background: true }, scope);
    expect(await load('crawl-1')).toMatchObject({
      id: 'crawl-1',
      owner: thread.owner,
      kind: 'crawl',
      description: 'walk (background)',
      parent: null,
      resumable: true,
      metadata: { url: 'a' },
      attempt: 1,
      status: 'running',
      turn: 'turn-1',
      call: 'call-1',
    });
  });

  test('is not made where a hook breaks, and the model learns nothing of it', async () => {
    const explode = () => {
      throw new Error('db-7 is down');
    };
    for (const hook of ['metadata', 'describe', 'idFromArgs']) {
      const work = steeredTool({ hooks: { [hook]: explode } });
      const { call, thread, errors } = await openTools(work.tool);
      const answer = await call({ run_in_background: true });
      expect(answer).toMatchObject({ isError: true, code: 'internal_error', task: null });
      expect(JSON.stringify(answer)).not.toContain('db-7');
      expect(String(errors[0])).toContain('db-7');
      expect(await thread.list()).toEqual([]);
    }
  });
});
