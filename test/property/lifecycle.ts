import type { TaskEvent } from '../../src/index.ts';
import { Violation } from '../lives/violation.ts';

/**
 * An independent account of what may follow what in the life of a task: the model against which the
 * stored events are held. It knows nothing of the machine.
 */
type Place =
  | 'new'
  | 'queued'
  | 'working'
  | 'asking'
  | 'retrying'
  | 'joining'
  | 'cancelling'
  | 'stopping'
  | 'stopped'
  /** Only because its runtime left. */
  | 'toGoOn'
  | 'ended';

const REPORTS = new Set([
  'progress',
  'output',
  'status',
  'checkpoint',
  'step',
  'evidence',
  'read',
  'message',
]);

/** Replays the events of one task and throws at the first that could not have happened. */
export function checkLifecycle(events: readonly TaskEvent[]): void {
  let place: Place = 'new';
  let attempt = 1;
  const open = new Set<string>();
  let hasCancel = false;
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) throw new Violation(`seq ${event.seq} at place ${index + 1}`);
    if (place === 'ended') throw new Violation(`${event.type} after the end`);
    place = next(place, event, open, hasCancel);
    if (event.type === 'resumed' || (event.type === 'started' && event.attempt > attempt)) {
      if (event.attempt !== attempt + 1)
        throw new Violation(`attempt ${event.attempt} after ${attempt}`);
      attempt = event.attempt;
      hasCancel = false;
    }
    if (event.type === 'cancelRequested') hasCancel = true;
    if (event.attempt !== attempt)
      throw new Violation(`event of attempt ${event.attempt} in ${attempt}`);
  }
}

function next(place: Place, event: TaskEvent, open: Set<string>, hasCancel: boolean): Place {
  const { type } = event;
  const wrong = () => new Violation(`${type} while ${place}`);
  const must = (...places: Place[]) => {
    if (!places.includes(place)) throw wrong();
  };
  if (REPORTS.has(type)) {
    const isInbound = event.type === 'message' && event.message.direction === 'in';
    if (isInbound) must('queued', 'working', 'asking', 'retrying');
    else must('working', 'asking', 'cancelling', 'stopping', 'joining', 'retrying');
    return place;
  }
  switch (event.type) {
    case 'created':
      must('new');
      return 'queued';
    case 'queued':
      must('queued');
      return 'queued';
    case 'started':
      must('queued', 'retrying');
      return 'working';
    case 'asked':
      must('working', 'asking');
      open.add(event.request.id);
      return 'asking';
    case 'answered':
    case 'withdrawn':
      must('asking');
      if (!open.delete(event.requestId)) throw wrong();
      return open.size > 0 ? 'asking' : 'working';
    case 'retrying':
      must('working', 'asking');
      open.clear();
      return 'retrying';
    case 'joining':
      must('working', 'asking', 'stopping');
      open.clear();
      return 'joining';
    case 'cancelRequested':
      if (hasCancel) throw wrong();
      must('queued', 'working', 'asking', 'retrying', 'joining', 'stopping', 'stopped', 'toGoOn');
      open.clear();
      return place === 'joining' ? 'joining' : 'cancelling';
    case 'stopRequested':
      // Nobody is to take it up again.
      if (place === 'toGoOn') return 'stopped';
      must('queued', 'working', 'asking', 'retrying', 'joining');
      open.clear();
      return place === 'joining' ? 'joining' : 'stopping';
    case 'abandoned':
      must('cancelling', 'stopping', 'joining', 'retrying');
      return place;
    case 'completed':
      must('working', 'asking', 'joining', 'stopping');
      return 'ended';
    case 'failed':
      must('working', 'asking', 'joining');
      return 'ended';
    case 'cancelled':
      must('cancelling');
      return 'ended';
    case 'stopped':
      must('stopping');
      return event.recovery === 'resume' ? 'toGoOn' : 'stopped';
    case 'resumed':
      must('stopped', 'toGoOn');
      return 'queued';
    default:
      throw wrong();
  }
}
