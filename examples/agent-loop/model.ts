import type { ToolAnswer, ToolCall, ToolDefinition } from 'offstage';

/** One entry of the transcript. What happened off stage comes in as a message of the user's side. */
export type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly answer: ToolAnswer };

/** What a model gives back: something to say, calls, or both. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

/**
 * Stands for a model: from the whole transcript and the tools to the next reply. A real one sends
 * them to its provider; this one has learnt its part by heart.
 */
export async function model(
  transcript: readonly Message[],
  tools: readonly ToolDefinition[],
): Promise<Reply> {
  const said = transcript.filter(({ role }) => role === 'assistant').length;
  switch (said) {
    case 0:
      return {
        text: `I can call ${tools.length} tools. Both sites are checked off stage.`,
        calls: [
          call('call-1', 'check_links', { site: 'docs', run_in_background: true }),
          call('call-2', 'check_links', { site: 'blog', run_in_background: true }),
          call('call-3', 'count_words', { page: 'README' }),
        ],
      };
    case 1:
      return {
        text: `The page has ${answerTo('call-3', transcript)} words. ${news(transcript)} An index comes next.`,
        calls: [call('call-4', 'build_index', { run_in_background: true })],
      };
    case 2:
      return { text: 'The index is being built. You will hear from me.', calls: [] };
    default:
      return { text: news(transcript), calls: [] };
  }
}

function answerTo(id: string, transcript: readonly Message[]): string {
  const message = transcript.find((each) => each.role === 'tool' && each.answer.call === id);
  return message?.role === 'tool' ? JSON.stringify(message.answer.result) : 'no';
}

/** What the last message tells of tasks that have ended. */
function news(transcript: readonly Message[]): string {
  const last = transcript.at(-1);
  const text = last?.role === 'user' ? last.text : '';
  return Array.from(text.matchAll(/<result>(.*?)<\/result>/g), ([, result]) => result).join(' ');
}

function call(id: string, tool: string, args: unknown): ToolCall {
  return { id, tool, args };
}
