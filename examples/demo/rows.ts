import { styleText } from 'node:util';
import type { Progress, TaskRecord } from 'offstage';
import type { Board } from './board.ts';

type Style = Parameters<typeof styleText>[0];

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** What a frame shows besides the board. */
export interface Frame {
  readonly number: number;
  readonly width: number;
  /** The last line of output of each task, by id. */
  readonly tails: ReadonlyMap<string, string>;
}

/** One row for each task, children below their parent. */
export function rowsOf(board: Board, frame: Frame): readonly string[] {
  return board.roots.flatMap((root) => {
    const children = board.childrenOf(root);
    return [
      rowOf(root, '', frame),
      ...children.map((child, index) =>
        rowOf(child, index === children.length - 1 ? '└─ ' : '├─ ', frame),
      ),
    ];
  });
}

function rowOf(record: TaskRecord, branch: string, frame: Frame): string {
  const { mark, style } = lookOf(record, frame.number);
  const titleWidth = frame.width < 70 ? 15 : 20;
  const stateWidth = frame.width < 40 ? 0 : 11;
  const barWidth = frame.width < 50 ? 0 : frame.width < 90 ? 12 : 24;
  const title = clip(branch + record.title, titleWidth);
  const state = clip(stateOf(record), stateWidth);
  const left = ` ${styleText(style, mark)} ${title} ${styleText(style, state)} `;
  const room = frame.width - (titleWidth + stateWidth + 5);
  const bar = barOf(record.progress, barWidth);
  if (bar === undefined) return left + styleText('dim', clip(detailOf(record, frame), room));
  const detail = clip(` ${detailOf(record, frame)}`, room - barWidth);
  return left + styleText(style, bar.done) + styleText('dim', bar.open + detail);
}

function lookOf({ status, phase }: TaskRecord, frame: number): { mark: string; style: Style } {
  switch (status) {
    case 'completed':
      return { mark: '✔', style: 'green' };
    case 'failed':
      return { mark: '✖', style: 'red' };
    case 'cancelled':
      return { mark: '✖', style: 'gray' };
    case 'stopped':
      return { mark: '■', style: 'yellow' };
    case 'running':
      if (phase === 'awaitingInput') return { mark: '?', style: 'magenta' };
      return { mark: SPINNER[frame % SPINNER.length] ?? '', style: 'cyan' };
  }
}

function stateOf({ status, phase }: TaskRecord): string {
  return phase === 'awaitingInput' ? 'asking' : (phase ?? status);
}

function barOf(
  progress: Progress | null,
  width: number,
): { done: string; open: string } | undefined {
  const { current = 0, total = 0 } = progress ?? {};
  if (total === 0 || width === 0) return undefined;
  const done = Math.round((width * Math.min(current, total)) / total);
  return { done: '█'.repeat(done), open: '░'.repeat(width - done) };
}

/** The most telling thing that is known of a task. */
function detailOf(record: TaskRecord, { tails }: Frame): string {
  const { status, outcome, request, requests, progress, statusText } = record;
  if (outcome?.kind === 'completed' && outcome.summary) return outcome.summary;
  if (outcome?.kind === 'failed') return outcome.failure.message;
  if (requests[0]) return requests[0].prompt;
  if (status === 'cancelled') return request?.reason ?? '';
  if (progress?.total) return `${progress.current}/${progress.total} ${progress.unit ?? ''}`;
  return tails.get(record.id) ?? statusText ?? '';
}

/** The text in exactly so many columns. */
function clip(text: string, width: number): string {
  if (width <= 0) return '';
  return text.length <= width ? text.padEnd(width) : `${text.slice(0, width - 1)}…`;
}
