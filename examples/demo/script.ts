import type { JsonObject, PendingUpdate, ToolCall } from 'offstage';
import type { ShellEvidence } from 'offstage/executors';
import type { Board } from './board.ts';

/** What a model would give back: a thought, tool calls, and something to say. */
export interface Reply {
  readonly thinks?: string;
  /** A model knows the ids of its tasks from the answers to its calls; a script looks them up. */
  calls?(board: Board): readonly ToolCall[];
  says?(board: Board): string;
}

/** A line of the user, when it is said, and what the agent makes of it. */
export interface Line {
  once(board: Board): boolean;
  readonly says: string;
  /** Approves the call that waits for it, with these changes of its arguments. */
  readonly approvesWith?: JsonObject;
  readonly reply: Reply;
}

/** The user's part. Lines are said in this order, each once the board looks as it asks for. */
export const lines: readonly Line[] = [
  {
    once: () => true,
    says: 'Version 2.0 goes out today. Take the checksums, run the benchmark and check the links.',
    reply: {
      thinks: 'Three long jobs. They go off stage, so that we can go on talking.',
      calls: () => [
        { id: 'call-1', tool: 'take_checksums', args: { run_in_background: true } },
        { id: 'call-2', tool: 'run_benchmark', args: { run_in_background: true } },
        { id: 'call-3', tool: 'check_links', args: { run_in_background: true } },
      ],
      says: () => 'All three are running. You will hear from me when something happens.',
    },
  },
  {
    once: (board) =>
      board.hasEnded('check_links') ||
      (board.tree('check_links').length === 4 &&
        board.reached('guide') >= 8 &&
        (board.find('mirrors')?.outputLength ?? 0) > 0),
    says: 'Skip the link check, the sites move next week. Build the search index instead.',
    reply: {
      thinks: 'One cancel is enough: it reaches the whole tree.',
      calls: (board) => [
        {
          id: 'call-4',
          tool: 'task_cancel',
          args: { task_id: board.find('check_links')?.id, reason: 'The sites move next week' },
        },
        { id: 'call-5', tool: 'build_index', args: { pages: 40, run_in_background: true } },
      ],
    },
  },
  {
    once: (board) => board.hasEnded('build_index') || board.reached('build_index') >= 10,
    says: 'I am on battery now. Pause the index.',
    reply: {
      thinks: 'It stores a checkpoint after every page, so it can stop anywhere.',
      calls: (board) => [
        {
          id: 'call-7',
          tool: 'task_stop',
          args: { task_id: board.find('build_index')?.id, reason: 'Saving battery' },
        },
      ],
    },
  },
  {
    once: (board) => board.hasEnded('publish') || board.find('publish')?.phase === 'awaitingInput',
    says: 'And yes, publish it, but to next, please.',
    approvesWith: { channel: 'next' },
    reply: { thinks: 'The yes is for the call itself. It goes on without me.' },
  },
  {
    once: (board) =>
      board.find('build_index')?.status !== 'running' &&
      (board.hasEnded('publish') || board.reached('publish') >= 4),
    says: 'Plugged in again. Go on with the index.',
    reply: {
      thinks: 'The same task, a second attempt.',
      calls: (board) => [
        { id: 'call-8', tool: 'task_resume', args: { task_id: board.find('build_index')?.id } },
      ],
    },
  },
  {
    once: (board) =>
      board.roots.every(({ status }) => status !== 'running' && status !== 'stopped'),
    says: 'Thank you. Where do we stand?',
    reply: {
      calls: () => [{ id: 'call-9', tool: 'task_list', args: { kind: 'tool' } }],
      says: ({ roots }) => {
        const count = (status: string) => roots.filter((each) => each.status === status).length;
        return `${count('completed')} completed, ${count('cancelled')} cancelled, and nothing runs any more.`;
      },
    },
  },
];

type Reaction = (update: PendingUpdate, board: Board) => Reply;

const release: Reaction = () => ({
  thinks: 'Next comes the release itself.',
  calls: () => [{ id: 'call-6', tool: 'publish', args: { version: '2.0', channel: 'stable' } }],
});

/** What the agent makes of the notices that arrive, by tool and kind of notice. */
const reactions: Readonly<Record<string, Reaction>> = {
  'check_links cancelled': (_update, board) => ({
    thinks: 'Cancelled means left: no task and no process of it is there any more.',
    says: () => `The link check is gone: ${leftBehind(board)}.`,
  }),
  'take_checksums completed': release,
  'take_checksums cancelled': release,
  'publish asked': ({ approval }) => {
    // Before a run was cut off: it is asked again.
    if (approval === null) return {};
    const args = Object.values(approval.args ?? {}).join(' to ');
    return { says: () => `That needs your yes: publish ${args}?` };
  },
  'publish stopped': ({ notice }) => ({
    thinks: 'It was cut off, and it does not go on unasked. To upload the same again does no harm.',
    calls: () => [{ id: 'call-10', tool: 'task_resume', args: { task_id: notice.task } }],
  }),
  'build_index stopped': (_update, board) => ({
    says: () => `The index waits at page ${board.reached('build_index')} of 40.`,
  }),
  'build_index completed': ({ notice }) => ({
    says: () => `The index is done: ${notice.summary}.`,
  }),
  'run_benchmark completed': ({ notice }) => ({
    says: () => `The benchmark is done: ${notice.summary}.`,
  }),
  'publish completed': ({ notice }) => ({ says: () => `It is out: ${notice.summary}.` }),
};

/** The agent's part: its scripted answer to a notice. */
export function react(update: PendingUpdate, board: Board): Reply {
  const { tool, kind, title, status } = update.notice;
  const reaction = reactions[`${tool} ${kind}`];
  return reaction?.(update, board) ?? { says: () => `${title} is ${status}.` };
}

function leftBehind(board: Board): string {
  const ended = board.tree('check_links').filter(({ status }) => status === 'cancelled').length;
  const evidence = board.find('mirrors')?.evidence as ShellEvidence | null | undefined;
  if (!evidence) return `${ended} tasks ended`;
  const signals = evidence.stages.map(({ signal }) => signal).join(', then ');
  return `${ended} tasks ended, and with them ${evidence.pids.length} processes by ${signals} within ${evidence.tookMs} ms (pids ${evidence.pids.join(' ')})`;
}
