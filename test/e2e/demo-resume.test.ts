import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lines as said } from '../../examples/demo/script.ts';
import { type Cut, DemoHome, type Run } from './demo-run.ts';

interface Story {
  readonly home: DemoHome;
  readonly cutOff: Run;
  readonly resumed: Run;
}

/** Where the demo is cut off, and by what. */
const CUTS = {
  'Ctrl-C while a tree runs': { at: /^output +mirrors/, by: 'SIGINT' },
  'SIGKILL in the middle of a turn': { at: /^task +Checksums: attempt 1/, by: 'SIGKILL' },
  'SIGKILL while a tree runs': { at: /^output +mirrors \| east: page 2/, by: 'SIGKILL' },
  'SIGKILL while a notice is heard': { at: /^notice +Checksums/, by: 'SIGKILL' },
  'SIGKILL while an approval waits': { at: /^agent +That needs your yes/, by: 'SIGKILL' },
  'SIGKILL in the middle of what was approved': { at: /^task +Publish: 3 of/, by: 'SIGKILL' },
} satisfies Record<string, Cut>;

type Name = keyof typeof CUTS;
const NAMES = Object.keys(CUTS) as Name[];
const stories = new Map<Name, Story>();

beforeAll(async () => {
  await Promise.all(NAMES.map(async (name) => stories.set(name, await play(CUTS[name]))));
}, 200_000);

afterAll(() => {
  for (const { home } of stories.values()) home.remove();
});

async function play(cut: Cut): Promise<Story> {
  const home = new DemoHome();
  const cutOff = await home.run(cut);
  return { home, cutOff, resumed: await home.run() };
}

function storyOf(name: Name): Story {
  const story = stories.get(name);
  if (story === undefined) throw new Error(`${name} was not played.`);
  return story;
}

/** What one voice said in both runs. */
function heard(voice: string, { cutOff, resumed }: Story): readonly string[] {
  const lines = [...cutOff.lines, ...resumed.lines];
  return lines.filter((line) => line.startsWith(`${voice} `)).map((line) => line.slice(8));
}

describe.each(NAMES)('the demo, cut off by %s and run again', (name) => {
  test('goes on, says so and comes to its end', () => {
    const { resumed } = storyOf(name);
    expect(resumed.stderr).toBe('');
    expect(resumed.exitCode).toBe(0);
    expect(resumed.lines[1]).toMatch(/^demo {4}Going on where the last run was cut off, with \w/);
    expect(resumed.lines.at(-2)).toBe(
      'agent   4 completed, 1 cancelled, and nothing runs any more.',
    );
  });

  test('comes back to the line where it was, leaves out none and repeats none that was done', () => {
    const lines = heard('you', storyOf(name));
    const isInTurn = name === 'SIGKILL in the middle of a turn';
    const once = isInTurn ? lines.filter((line, index) => line !== lines[index - 1]) : lines;
    expect(once).toEqual(said.map((line) => line.says));
  });

  test('has started each task once', () => {
    const [list = ''] = storyOf(name).resumed.lines.filter((line) => line.includes('task_list'));
    expect(
      list
        .replace(/^.* -> /, '')
        .split(', ')
        .toSorted(),
    ).toEqual([
      'Benchmark completed',
      'Checksums completed',
      'Link check cancelled',
      'Publish completed',
      'Search index completed',
    ]);
  });

  test('hears every notice', () => {
    expect(heard('notice', storyOf(name))).toEqual(
      expect.arrayContaining([
        'Benchmark: completed',
        'Checksums: completed',
        'Link check: cancelled',
        'Publish: asked',
        'Publish: completed',
        'Search index: completed',
        'Search index: stopped',
      ]),
    );
  });

  test('leaves no process and no file', () => {
    const { home } = storyOf(name);
    expect(home.processes).toEqual([]);
    expect(home.files).toEqual([]);
  });
});

test('Ctrl-C stops all tasks and exits like any interrupted program', () => {
  const { cutOff } = storyOf('Ctrl-C while a tree runs');
  expect(cutOff.stderr).toBe('');
  expect(cutOff.exitCode).toBe(130);
  expect(cutOff.lines).toContain('task    Link check: stopped');
});

test.each(['Ctrl-C while a tree runs', 'SIGKILL while a tree runs'] as const)(
  'after %s the tree is there again, each child with a second attempt',
  (name) => {
    const { resumed } = storyOf(name);
    for (const title of ['Link check', 'guide site', 'reference site', 'mirrors']) {
      expect(resumed.lines).toContain(`task    ${title}: attempt 2 started`);
    }
  },
);

test('an approval that waited is asked for again', () => {
  const { resumed } = storyOf('SIGKILL while an approval waits');
  expect(resumed.lines).toContain('task    Publish: asks: Approve Publish?');
  expect(resumed.lines).toContain('agent   It is out: 2.0 is on the channel next.');
});

test('what was approved and cut off goes on only because the agent says so, and is not asked for again', () => {
  const { resumed } = storyOf('SIGKILL in the middle of what was approved');
  expect(resumed.lines).toContain('notice  Publish: stopped');
  expect(resumed.lines).toContain('call    task_resume(Publish) -> working');
  expect(resumed.lines).toContain('task    Publish: uploading to next');
  expect(resumed.stdout).not.toContain('asks: Approve');
});
