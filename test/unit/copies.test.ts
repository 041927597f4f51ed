import { describe, expect, it } from 'vitest';
import { defineTask, type RunContext, type TaskEvent } from '../../src/index.ts';
import { at, codeOf, eventsOfType, openStage, soon, steered } from './setup.ts';

const LONGEST_PIECE = 64 * 1024;
const LONGEST_TEXT = 4_096;

/** Writes into what it was given, as far as that lets it. */
function scribble(value: unknown, key: string): void {
  if (typeof value === 'object' && value !== null) Reflect.set(value, key, 'scribbled');
}

describe('what a body is handed', () => {
  it('is a copy: an answer that the body changes stays stored as it was given', async () => {
    const asks = defineTask({
      name: 'asks',
      async run({ requestInput }) {
        const answer = await requestInput({ prompt: 'Which?' });
        scribble(answer, 'added');
        return answer;
      },
    });
    const { thread, store, settle } = await openStage({ tasks: [asks] });
    const task = await thread.spawn(asks);
    await settle();
    await task.answer(at(task.snapshot().requests, 0).id, { which: ['this'] });
    expect(await soon(task.result())).toEqual({ which: ['this'], added: 'scribbled' });
    const [answered] = await eventsOfType(store, task, 'answered');
    expect(answered?.value).toEqual({ which: ['this'] });
  });

  it('is a copy: a message that the body changes stays stored as it was sent, and is read', async () => {
    const reads = defineTask({
      name: 'reads',
      async run({ receive }) {
        const message = await receive();
        scribble(message.content, 'added');
        scribble(message, 'id');
        scribble(message, 'direction');
        return message.content;
      },
    });
    const { thread, store } = await openStage({ tasks: [reads] });
    const task = await thread.spawn(reads);
    const id = await task.send({ text: 'hello' });
    expect(await soon(task.result())).toEqual({ text: 'hello', added: 'scribbled' });
    const [sent] = await eventsOfType(store, task, 'message');
    expect(sent?.message).toMatchObject({ id, direction: 'in', content: { text: 'hello' } });
    const [read] = await eventsOfType(store, task, 'read');
    expect(read?.messageIds).toEqual([id]);
    expect(task.snapshot().inbox).toEqual([]);
  });
});

describe('what a body tells', () => {
  async function telling(tell: (context: RunContext<undefined>) => void) {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const task = await stage.thread.spawn(work.definition);
    await stage.settle();
    tell(work.body.context);
    await stage.pass(100);
    return { work, stage, task };
  }

  it('is plain data: progress is stored as it was when it was told', async () => {
    const inner: { label: string } = { label: 'before' };
    const progress = { current: 1, total: 2, details: inner, never: undefined };
    const { stage, task } = await telling((context) => {
      context.progress(progress);
      inner.label = 'after';
    });
    const [event] = await eventsOfType(stage.store, task, 'progress');
    expect(event?.progress).toStrictEqual({ current: 1, total: 2, details: { label: 'before' } });
  });

  it('is bounded: progress as large as no event may be is refused where it is told', async () => {
    const label = 'x'.repeat(5_000_000);
    const refusals: unknown[] = [];
    const { stage, task } = await telling((context) => {
      try {
        context.progress({ label });
      } catch (error) {
        refusals.push(error);
      }
    });
    expect(await Promise.all(refusals.map((error) => codeOf(Promise.reject(error))))).toEqual([
      'too_large',
    ]);
    expect(await eventsOfType(stage.store, task, 'progress')).toEqual([]);
    expect(task.status).toBe('running');
  });

  it('is bounded: a status and a summary are cut', async () => {
    const long = 'x'.repeat(100_000);
    const { work, stage, task } = await telling((context) => {
      context.status(long);
      context.summary(long);
    });
    work.body.succeed();
    await stage.settle();
    const [status] = await eventsOfType(stage.store, task, 'status');
    expect(status?.text).toBe(`${'x'.repeat(LONGEST_TEXT)}…`);
    const [notice] = await stage.thread.notices.take();
    expect(JSON.stringify(notice).length).toBeLessThan(2 * LONGEST_TEXT);
  });

  it('is text: a status and a summary of something else are turned into one', async () => {
    const odd: { text: string } = JSON.parse('{ "text": 42 }');
    const { work, stage, task } = await telling((context) => {
      context.status(odd.text);
      context.summary(odd.text);
    });
    work.body.succeed();
    await stage.settle();
    const [status] = await eventsOfType(stage.store, task, 'status');
    expect(status?.text).toBe('42');
    const [notice] = await stage.thread.notices.take();
    expect(notice).toMatchObject({ summary: '42' });
  });

  it('comes in events of at most 64 Ki characters, each of whole characters', async () => {
    // One character before many pairs: every cut at an even place would go through a pair.
    const text = `x${'🎭'.repeat(2_500_000)}`;
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const task = await stage.thread.spawn(work.definition);
    await stage.settle();
    // As they come: the store keeps only the last of so much.
    const events: Extract<TaskEvent, { type: 'output' }>[] = [];
    task.events$.subscribe((event) => event.type === 'output' && events.push(event));
    void work.body.context.output(text);
    await stage.pass(100);
    expect(events.length).toBeGreaterThan(50);
    expect(events.every((event) => event.text.length <= LONGEST_PIECE)).toBe(true);
    expect(events.every((event) => event.text.isWellFormed())).toBe(true);
    expect(events.map((event) => event.text).join('') === text).toBe(true);
    let offset = 0;
    for (const event of events) {
      expect(event.offset).toBe(offset);
      offset += event.text.length;
    }
  });

  it('keeps many small pieces of output together, but never in an event beyond the bound', async () => {
    const piece = 'y'.repeat(1_000);
    const { stage, task } = await telling((context) => {
      for (let index = 0; index < 200; index += 1) void context.output(piece);
    });
    const events = await eventsOfType(stage.store, task, 'output');
    expect(events.map((event) => event.text).join('')).toBe(piece.repeat(200));
    expect(events.length).toBeLessThan(20);
    expect(events.every((event) => event.text.length <= LONGEST_PIECE)).toBe(true);
  });
});
