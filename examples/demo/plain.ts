import { stripVTControlCharacters } from 'node:util';
import type { Decision, Progress, Supervisor, TaskEvent, TaskRecord } from 'offstage';
import type { Stage } from './stage.ts';

/** Shows the demo as plain lines: one for each thing worth telling, without control characters. */
export function openPlain(
  thread: Supervisor,
  known: readonly TaskRecord[],
  write: (line: string) => void,
): Stage {
  const titles = new Map(known.map(({ id, title }) => [id, title]));
  const quarters = new Map<string, number>();
  const print = (voice: string, text: string) => write(`${voice.padEnd(8)}${text}`);

  /** A bar would fill the log, so only every quarter of the way is told. */
  const quarterOf = (task: string, { current = 0, total = 0 }: Progress): string | undefined => {
    const quarter = total > 0 ? Math.floor((4 * current) / total) : 0;
    if (quarter <= (quarters.get(task) ?? 0)) return undefined;
    quarters.set(task, quarter);
    return `${current} of ${total}`;
  };

  const subscription = thread.events$.subscribe((event) => {
    if (event.type === 'created') titles.set(event.task, event.title);
    const title = titles.get(event.task) ?? event.task;
    if (event.type === 'output') {
      for (const line of linesOf(event.text)) print('output', `${title} | ${line}`);
      return;
    }
    const text =
      event.type === 'progress' ? quarterOf(event.task, event.progress) : wordsFor(event);
    if (text !== undefined) print('task', `${title}: ${text}`);
  });

  return { tell: print, end: () => subscription.unsubscribe() };
}

function wordsFor(event: TaskEvent): string | undefined {
  switch (event.type) {
    case 'started':
      return `attempt ${event.attempt} started`;
    case 'detached':
      return 'goes on in the background';
    case 'status':
      return event.text;
    case 'asked':
      return `asks: ${event.request.prompt}`;
    case 'answered':
      return `got the answer: ${(event.value as Decision).kind}`;
    case 'cancelRequested':
      return `shall leave (${event.reason})`;
    case 'stopRequested':
      return `shall stop (${event.reason})`;
    case 'resumed':
      return 'resumed';
    case 'completed':
    case 'cancelled':
    case 'stopped':
      return event.type;
    case 'failed':
      return `failed: ${event.failure.message}`;
    default:
      return undefined;
  }
}

function linesOf(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
}
