import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const HOOK = new URL('./fixtures/source-hook.ts', import.meta.url).href;

interface Run {
  readonly exitCode: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an example as a reader would, on the sources and from a folder that is not its own. */
function runOf(name: string): Promise<Run> {
  const args = ['--import', HOOK, join(EXAMPLES, name, 'main.ts')];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: '/', timeout: 50_000 }, (error, stdout, stderr) => {
      resolve({ exitCode: error ? (error.code ?? error.signal ?? null) : 0, stdout, stderr });
    });
  });
}

/** Lines that tell what happened. Ids of tasks differ from run to run. */
function linesOf({ stdout }: Run): readonly string[] {
  return stdout.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>').split('\n');
}

const PLACEHOLDER =
  '{"task_id":"<id>","status":"running_in_background","message":"Runs in the background. A notice comes when it ends; task_status with task_id <id> tells how it stands."}';

const OWN_TESTS = new Set(['demo', 'second-terminal']);

const RUN_HERE = ['agent-loop', 'approval', 'background-tools'] as const;
const runs = Object.fromEntries(RUN_HERE.map((name) => [name, runOf(name)])) as {
  readonly [Name in (typeof RUN_HERE)[number]]: Promise<Run>;
};

test('every example that has no tests of its own is run here', () => {
  const folders = readdirSync(EXAMPLES).filter((name) => !OWN_TESTS.has(name));
  expect(folders.toSorted()).toEqual([...RUN_HERE]);
});

describe.each(RUN_HERE)('%s', (name) => {
  test('ends well and says nothing on the side', async () => {
    const { exitCode, stderr } = await runs[name];
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  });
});

describe('the agent loop', () => {
  test('answers every call once, in the order of the calls', async () => {
    const answers = linesOf(await runs['agent-loop']).filter((line) => line.startsWith('tool '));
    expect(answers).toEqual([
      `tool       call-1 check_links: ${PLACEHOLDER}`,
      `tool       call-2 check_links: ${PLACEHOLDER}`,
      'tool       call-3 count_words: 1234',
      `tool       call-4 build_index: ${PLACEHOLDER}`,
    ]);
  });

  test('hears of two ends in one message', async () => {
    const { stdout } = await runs['agent-loop'];
    const [first = '', second = ''] = Array.from(
      stdout.matchAll(/<task_notices>.*?<\/task_notices>/gs),
      ([text]) => text,
    );
    expect(first.match(/<result>.*<\/result>/g)?.toSorted()).toEqual([
      '<result>No broken link in blog.</result>',
      '<result>No broken link in docs.</result>',
    ]);
    expect(second.match(/<result>.*<\/result>/g)).toEqual([
      '<result>The index has 40 pages.</result>',
    ]);
  });

  test('ends only once nothing off stage has anything left to say', async () => {
    const lines = linesOf(await runs['agent-loop']);
    expect(lines.filter((line) => line.startsWith('assistant')).slice(-2)).toEqual([
      'assistant  The index is being built. You will hear from me.',
      'assistant  The index has 40 pages.',
    ]);
    expect(lines.at(-2)).toBe('the loop is idle');
  });
});

describe('background tools', () => {
  test('show a call that is in time, one that was sent away and one that was detached', async () => {
    const lines = linesOf(await runs['background-tools']).map((line) =>
      line.replace(/^call-4 .*"status":"(\w+)".*$/, 'call-4  $1'),
    );
    expect(lines).toEqual([
      'call-1  "Owl: 2 frames"',
      `call-2  ${PLACEHOLDER}`,
      'notice  ["call-2","completed","Crow: 2 frames"]',
      `call-3  ${PLACEHOLDER}`,
      'call-4  completed',
      'notice  ["call-3","completed","Heron: 60 frames"]',
      'state   "idle"',
      '',
    ]);
  });
});

describe('approval', () => {
  test('shows a denial, an approval of other arguments, and what is kept of both', async () => {
    expect(linesOf(await runs.approval)).toEqual([
      'asked   Approve Remove files? {"files":["/"]}',
      'answer  denied {"error":"Not the root","code":"denied"}',
      'asked   Approve Remove files? {"files":["a.tmp","notes.md"]}',
      'answer  {"removed":["a.tmp"],"note":"the notes stay"}',
      'removed ["a.tmp"]',
      'audit   {"kind":"deny","reason":"Not the root"}',
      'audit   {"kind":"approve","args":{"files":["a.tmp"]},"patches":[{"op":"replace","path":["files"],"value":["a.tmp"]}],"pass":"the notes stay"}',
      '',
    ]);
  });
});
