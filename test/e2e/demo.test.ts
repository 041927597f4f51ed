import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DemoHome, type Run } from './demo-run.ts';

const home = new DemoHome();
let whole: Run;

beforeAll(async () => {
  whole = await home.run();
}, 100_000);

afterAll(() => home.remove());

/** Where each line stands; -1 if it is not there. */
function placesOf(...lines: readonly string[]): readonly number[] {
  return lines.map((line) => whole.lines.indexOf(line));
}

function expectInOrder(...lines: readonly string[]): void {
  const missing = lines.filter((line) => !whole.lines.includes(line));
  expect(missing, whole.stdout).toEqual([]);
  const places = placesOf(...lines);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}

function find(pattern: RegExp): readonly string[] {
  return pattern.exec(whole.stdout)?.slice(1) ?? [];
}

describe('the demo without a terminal', () => {
  test('ends well and leaves no process and no file', () => {
    expect(whole.stderr).toBe('');
    expect(whole.exitCode).toBe(0);
    expect(home.processes).toEqual([]);
    expect(home.files).toEqual([]);
  });

  test('prints lines without control characters', () => {
    expect(whole.stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test('runs a process to its end and shows what it prints', () => {
    for (const file of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'tsconfig.json']) {
      expect(whole.stdout).toMatch(new RegExp(`^output  Checksums \\| \\d+ \\d+ ${file}$`, 'm'));
    }
    expectInOrder(
      'task    Checksums: attempt 1 started',
      'task    Checksums: completed',
      'notice  Checksums: completed',
    );
  });

  test('runs a thread to its end and tells how far it is', () => {
    expectInOrder(
      'task    Benchmark: 25 of 50',
      'task    Benchmark: 50 of 50',
      'task    Benchmark: completed',
      'notice  Benchmark: completed',
      'agent   The benchmark is done: 148,933 primes below 2,000,000.',
    );
  });

  test('cancels a tree from its root down, and hears of it when all have left', () => {
    for (const child of ['guide site', 'reference site', 'mirrors']) {
      expectInOrder(
        `task    ${child}: attempt 1 started`,
        'task    Link check: shall leave (The sites move next week)',
        `task    ${child}: shall leave (The sites move next week)`,
        `task    ${child}: cancelled`,
        'task    Link check: cancelled',
        'notice  Link check: cancelled',
      );
    }
  });

  test('tells which processes a cancel has ended', () => {
    const [tasks, processes, pids = ''] = find(
      /gone: (\d+) tasks ended, and with them (\d+) processes by SIGTERM.* \(pids ([\d ]+)\)/,
    );
    expect(tasks).toBe('4');
    expect(Number(processes)).toBeGreaterThanOrEqual(4);
    expect(pids.split(' ')).toHaveLength(Number(processes));
  });

  test('stops a task and resumes it from its checkpoint', () => {
    expectInOrder(
      'task    Search index: attempt 1 started',
      'task    Search index: shall stop (Saving battery)',
      'task    Search index: stopped',
      'notice  Search index: stopped',
      'task    Search index: attempt 2 started',
      'task    Search index: completed',
      'notice  Search index: completed',
    );
    const [page] = find(/The index waits at page (\d+) of 40/);
    expect(find(/40 pages, resumed from page (\d+)/)).toEqual([page]);
  });

  test('runs a call only once the user has approved it, and as the user has changed it', () => {
    expectInOrder(
      'task    Publish: asks: Approve Publish?',
      'task    Publish: goes on in the background',
      'call    publish(2.0, stable) -> running_in_background',
      'notice  Publish: asked',
      'agent   That needs your yes: publish 2.0 to stable?',
      'you     And yes, publish it, but to next, please.',
      'task    Publish: got the answer: approve',
      'task    Publish: uploading to next',
      'task    Publish: completed',
      'agent   It is out: 2.0 is on the channel next.',
    );
    expect(whole.stdout).not.toContain('uploading to stable');
  });

  test('answers every call once', () => {
    const calls = whole.lines.filter((line) => line.startsWith('call'));
    expect(calls.toSorted()).toEqual([
      'call    build_index(40, run_in_background) -> running_in_background',
      'call    check_links(run_in_background) -> running_in_background',
      'call    publish(2.0, stable) -> running_in_background',
      'call    run_benchmark(run_in_background) -> running_in_background',
      'call    take_checksums(run_in_background) -> running_in_background',
      expect.stringMatching(/task_cancel\(Link check, The sites move next week\) -> cancell/),
      expect.stringMatching(/task_list\(tool\) -> Checksums completed, .*Publish completed/),
      expect.stringMatching(/task_resume\(Search index\) -> \w/),
      expect.stringMatching(/task_stop\(Search index, Saving battery\) -> stop/),
    ]);
  });

  test('takes every notice once', () => {
    const notices = whole.lines.filter((line) => line.startsWith('notice'));
    expect(notices.toSorted()).toEqual([
      'notice  Benchmark: completed',
      'notice  Checksums: completed',
      'notice  Link check: cancelled',
      'notice  Publish: asked',
      'notice  Publish: completed',
      'notice  Search index: completed',
      'notice  Search index: stopped',
    ]);
  });

  test('ends with nothing running', () => {
    expect(whole.lines.at(-2)).toBe('agent   4 completed, 1 cancelled, and nothing runs any more.');
  });
});
