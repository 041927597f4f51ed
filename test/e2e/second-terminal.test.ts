import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DemoHome, type Run } from './demo-run.ts';

const DEMO = 'examples/demo/main.ts';
const TERMINAL = 'examples/second-terminal/main.ts';

const home = new DemoHome();
let demo: Run;
let list: Run;
let tail: Run;
let cancel: Run;
let mistaken: Run;
let another: Run;

/** All programs are ready before the demo begins, since that does not wait for them. */
beforeAll(async () => {
  const listing = home.prepare(TERMINAL, 'list');
  const tailing = home.prepare(TERMINAL, 'tail', 'Benchmark');
  const cancelling = home.prepare(TERMINAL, 'cancel', 'Benchmark');
  const mistaking = home.prepare(TERMINAL, 'cancel', 'Benchmarks');
  const anotherDemo = home.prepare(DEMO);
  const playing = home.prepare(DEMO);
  const isAtWork = playing.line(/^output +mirrors/);
  playing.open();
  await isAtWork;
  const isTold = tailing.line(/^\d+ pieces$/);
  for (const program of [listing, tailing, mistaking, anotherDemo]) program.open();
  await isTold;
  [list, mistaken, another] = await Promise.all([
    listing.ended,
    mistaking.ended,
    anotherDemo.ended,
  ]);
  cancelling.open();
  [demo, tail, cancel] = await Promise.all([playing.ended, tailing.ended, cancelling.ended]);
}, 100_000);

afterAll(() => home.remove());

describe('a second terminal, while the demo runs in another process', () => {
  test('takes 30 lines at most', () => {
    const text = readFileSync(join(import.meta.dirname, '../..', TERMINAL), 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  });

  test('ends well and says nothing on the side', () => {
    for (const { exitCode, stderr } of [list, tail, mistaken, cancel]) {
      expect(stderr).toBe('');
      expect(exitCode).toBe(0);
    }
  });

  test('lists the tasks, how each stands and how far it is', () => {
    expect(list.stdout).toMatch(/^[0-9a-f-]{36} {2}Link check +working +0 of 3$/m);
    expect(list.stdout).toMatch(/^[0-9a-f-]{36} {2}guide site +working/m);
    expect(list.stdout).toMatch(/^[0-9a-f-]{36} {2}mirrors +working/m);
    expect(list.stdout).toMatch(/^[0-9a-f-]{36} {2}Benchmark +working/m);
  });

  test('says when there is no task of that name, and lists those that there are', () => {
    expect(mistaken.lines[0]).toBe('No task to cancel by the name "Benchmarks". There are:');
    expect(mistaken.stdout).toMatch(/^[0-9a-f-]{36} {2}Benchmark +working/m);
  });

  test('tails a task from what it last did to its end', () => {
    const pieces = tail.lines.filter((line) => line.endsWith(' pieces')).map(Number.parseFloat);
    expect(pieces).toEqual([...new Set(pieces)].toSorted((a, b) => a - b));
    expect(tail.lines).toContain('(cancelRequested)');
    expect(tail.lines.slice(-2), tail.stdout).toEqual(['(cancelled)', '']);
  });

  test('cancels a task, and the demo hears of it', () => {
    expect(cancel.stdout).toBe('Benchmark is cancelled.\n');
    expect(demo.lines).toContain(
      'task    Benchmark: shall leave (Cancelled from a second terminal)',
    );
    expect(demo.lines).toContain('notice  Benchmark: cancelled');
    expect(demo.lines.at(-2)).toBe('agent   3 completed, 2 cancelled, and nothing runs any more.');
    expect(demo.exitCode).toBe(0);
  });
});

test('without a demo it says how to start one, in a line and not in a stack', async () => {
  const empty = new DemoHome();
  const { exitCode, stderr } = await empty.start(TERMINAL, 'list').ended;
  empty.remove();
  expect(exitCode).toBe(1);
  expect(stderr).toBe('There is no demo to look at: start one with `npm run demo`.\n');
});

test('a second demo says that one runs already, and leaves it alone', () => {
  expect(another.exitCode).toBe(1);
  expect(another.stdout).toMatch(/^The demo runs already, as process \d+\.[\s\S]*^npx node /m);
});
