import type { Notice } from 'offstage';
import type { ShellEvidence } from 'offstage/executors';
import type { Board } from './board.ts';
import type { Call, TaskName } from './tools.ts';

/** What a model would give back: a thought, tool calls, and something to say. */
export interface Reply {
  readonly thinks?: string;
  readonly calls?: readonly Call[];
  says?(board: Board): string;
}

/** A line of the user, when it is said, and what the agent makes of it. */
export interface Line {
  once(board: Board): boolean;
  readonly says: string;
  readonly reply: Reply;
}

/** The user's part. Lines are said in this order, each once the board looks as it asks for. */
export const lines: readonly Line[] = [
  {
    once: () => true,
    says: 'Version 2.0 goes out today. Take the checksums, run the benchmark and check the links.',
    reply: {
      thinks: 'Three long jobs. They go off stage, so that we can go on talking.',
      calls: [
        { tool: 'start', task: 'checksum' },
        { tool: 'start', task: 'benchmark' },
        { tool: 'start', task: 'links' },
      ],
      says: () => 'All three are running. You will hear from me when something happens.',
    },
  },
  {
    once: (board) =>
      board.tree('links').length === 4 &&
      board.reached('guide') >= 8 &&
      (board.find('mirrors')?.outputLength ?? 0) > 0,
    says: 'Skip the link check, the sites move next week. Build the search index instead.',
    reply: {
      thinks: 'One cancel is enough: it reaches the whole tree.',
      calls: [
        { tool: 'cancel', task: 'links', reason: 'The sites move next week' },
        { tool: 'start', task: 'index' },
      ],
    },
  },
  {
    once: (board) => board.reached('index') >= 10,
    says: 'I am on battery now. Pause the index.',
    reply: {
      thinks: 'It stores a checkpoint after every page, so it can stop anywhere.',
      calls: [{ tool: 'stop', task: 'index', reason: 'Saving battery' }],
    },
  },
  {
    once: (board) => board.find('publish')?.phase === 'awaitingInput',
    says: 'And publish it to next, please.',
    reply: { calls: [{ tool: 'answer', task: 'publish', value: 'next' }] },
  },
  {
    once: (board) => board.find('index')?.status === 'stopped' && board.reached('publish') >= 4,
    says: 'Plugged in again. Go on with the index.',
    reply: {
      thinks: 'The same task, a second attempt.',
      calls: [{ tool: 'resume', task: 'index' }],
    },
  },
  {
    once: (board) => board.roots.every(({ status }) => status !== 'running'),
    says: 'Thank you. Where do we stand?',
    reply: {
      calls: [{ tool: 'list' }],
      says: (board) => {
        const count = (status: string) =>
          board.roots.filter((each) => each.status === status).length;
        return `${count('completed')} tasks are completed, ${count('cancelled')} was cancelled, and nothing runs any more.`;
      },
    },
  },
];

type Reaction = (notice: Notice, board: Board) => Reply;

/** What the agent makes of the notices that arrive, by task and kind of notice. */
const reactions: Partial<Record<`${TaskName} ${Notice['kind']}`, Reaction>> = {
  'links cancelled': (_notice, board) => ({
    thinks: 'Cancelled means left: no task and no process of it is there any more.',
    says: () => `The link check is gone: ${leftBehind(board)}.`,
  }),
  'checksum completed': () => ({
    thinks: 'The files can all be read. Next comes the release itself.',
    calls: [{ tool: 'start', task: 'publish' }],
  }),
  'publish asked': ({ summary, data }) => ({
    says: () => `The release has a question. ${summary} (${choices(data)})`,
  }),
  'index stopped': (_notice, board) => ({
    says: () => `The index waits at page ${board.reached('index')} of 40.`,
  }),
  'index completed': ({ summary }) => ({ says: () => `The index is done: ${summary}.` }),
  'benchmark completed': ({ summary }) => ({ says: () => `The benchmark is done: ${summary}.` }),
  'publish completed': ({ summary }) => ({ says: () => `It is out: ${summary}.` }),
};

/** The agent's part: its scripted answer to a notice. */
export function react(notice: Notice, board: Board): Reply {
  const name = board.records.find(({ id }) => id === notice.task)?.name as TaskName;
  const reaction = reactions[`${name} ${notice.kind}`];
  return reaction?.(notice, board) ?? { says: () => `${notice.title} is ${notice.status}.` };
}

function leftBehind(board: Board): string {
  const ended = board.tree('links').filter(({ status }) => status === 'cancelled').length;
  const evidence = board.find('mirrors')?.evidence as ShellEvidence | null | undefined;
  if (!evidence) return `${ended} tasks ended`;
  const signals = evidence.stages.map(({ signal }) => signal).join(', then ');
  return `${ended} tasks ended, and with them ${evidence.pids.length} processes by ${signals} within ${evidence.tookMs} ms (pids ${evidence.pids.join(' ')})`;
}

function choices(data: Notice['data']): string {
  const question = data as { readonly data: readonly string[] };
  return question.data.join(' or ');
}
