import type { Message } from '../../machines/index.ts';
import { unknownTask } from '../task/errors.ts';
import type { MessageQuery } from '../task/handle.ts';
import { invalid } from '../task/options.ts';
import type { Engine } from './engine.ts';

const PAGE = 256;
const DEFAULT_LIMIT = 100;

/**
 * The stored messages from and to a task, oldest first. An `after` that the log does not have, or
 * has dropped, begins with the oldest message there is.
 */
export async function readMessages(
  engine: Engine,
  owner: string,
  id: string,
  { after, limit = DEFAULT_LIMIT }: MessageQuery = {},
): Promise<readonly Message[]> {
  if (!Number.isInteger(limit) || limit < 1) throw invalid('limit', limit, 'a whole number from 1');
  if ((await engine.store.load(owner, id)) === null) throw unknownTask(id);
  let messages: Message[] = [];
  let isPast = after === undefined;
  for (let since = 0; ; ) {
    const { lagged, events } = await engine.store.readEvents(owner, id, since, PAGE);
    for (const event of events) {
      if (event.type !== 'message') continue;
      if (event.message.id === after) {
        messages = [];
        isPast = true;
      } else if (messages.length < limit) messages.push(event.message);
    }
    const isEnd = events.length === 0 && lagged === null;
    if (isEnd || (isPast && messages.length >= limit)) return messages;
    since = events.at(-1)?.seq ?? lagged?.to ?? since;
  }
}
