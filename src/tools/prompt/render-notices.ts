import type { Json } from '../../../machines/index.ts';
import type { Notice } from '../../task/notice.ts';
import { textIn, valueIn } from './json-fields.ts';
import { modelJson } from './model-json.ts';
import { block, type Markup } from './prompt-text.ts';

/** A notice to be told to a model, with the result of its task if it is to be told too. */
export interface NoticeItem
  extends Pick<Notice, 'task' | 'kind' | 'title' | 'status' | 'summary' | 'data'> {
  readonly tool?: string | null;
  /** What the task was about: several may have the same title. */
  readonly description?: string | null;
  readonly artifacts?: Notice['artifacts'];
  readonly result?: Json;
}

/** Characters of untrusted text that all notices of one message share, and what each has at least. */
const SHARED = 40_000;
const LEAST = 400;
const MOST = 4_000;
const MOST_FILES = 10;
const LONGEST_PATH = 1_000;

/**
 * Many notices as one text for one message to a model: what was finished, failed, asked or told.
 * Whatever tasks wrote is escaped. Empty without notices.
 *
 * @example
 * ```ts
 * import { createRuntime, renderNotices } from 'offstage';
 *
 * const runtime = await createRuntime();
 * const { notices } = runtime.supervisor('thread-1');
 * const taken = await notices.take();
 * const text = renderNotices(taken); // goes to the model as one message
 * await notices.acknowledge(taken);
 * await runtime.close();
 * ```
 */
export function renderNotices(items: readonly NoticeItem[]): string {
  if (items.length === 0) return '';
  const room = Math.min(MOST, Math.max(LEAST, Math.floor(SHARED / items.length)));
  return String(
    block(
      'task_notices',
      {},
      items.map((item) => taskOf(item, room)),
    ),
  );
}

function taskOf(item: NoticeItem, room: number): Markup {
  const { task: id, title, tool, status, description } = item;
  const about = description ? block('description', {}, description, { maxLength: room }) : null;
  const parts = [about, ...wordsOf(item, room), resultOf(item, room), ...filesOf(item)];
  return block('task', { id, title, tool, status }, parts);
}

function wordsOf({ kind, summary, data }: NoticeItem, maxLength: number): (Markup | null)[] {
  switch (kind) {
    case 'failed': {
      const code = textIn(data, 'code');
      return [block('error', { code }, textIn(data, 'message') ?? summary, { maxLength })];
    }
    case 'asked':
      return [questionOf(data, summary, maxLength)];
    case 'message': {
      const attributes = { id: textIn(data, 'id'), in_reply_to: textIn(data, 'inReplyTo') };
      return [
        block('message', attributes, shown(valueIn(data, 'content'), maxLength), { maxLength }),
      ];
    }
    case 'stopped':
      return [
        summaryOf(summary, maxLength),
        textIn(data, 'recovery') === 'ask'
          ? block('recovery', {}, 'Nothing runs it any more. Resume it, or cancel it.')
          : null,
      ];
    default:
      return [summaryOf(summary, maxLength)];
  }
}

/** An open request, in the words of whoever asks. */
export function questionOf(request: Json, prompt: string | null, maxLength: number): Markup {
  const attributes = { request_id: textIn(request, 'id'), kind: textIn(request, 'kind') };
  const data = valueIn(request, 'data');
  const words = textIn(request, 'prompt') ?? prompt;
  return block('question', attributes, [
    block('prompt', {}, words, { maxLength }),
    data === null ? null : block('data', {}, shown(data, maxLength), { maxLength }),
  ]);
}

function summaryOf(summary: string | null, maxLength: number): Markup | null {
  return summary === null ? null : block('summary', {}, summary, { maxLength });
}

function resultOf({ result }: NoticeItem, maxLength: number): Markup | null {
  if (result === undefined) return null;
  return block('result', {}, shown(result, maxLength), { maxLength });
}

function filesOf({ artifacts = [] }: NoticeItem): Markup[] {
  return artifacts
    .slice(0, MOST_FILES)
    .map(({ name, path, error }) =>
      block('artifact', { name, error }, path, { maxLength: LONGEST_PATH }),
    );
}

/** A text as it is, all else as JSON. */
function shown(value: Json, maxLength: number): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(modelJson(value, { text: maxLength, total: maxLength }));
}
