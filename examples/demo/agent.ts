import { type Supervisor, type TaskRecord, toAsyncIterable } from 'offstage';
import {
  concatMap,
  delay,
  filter,
  from,
  fromEvent,
  map,
  merge,
  type Observable,
  take,
  takeUntil,
} from 'rxjs';
import { Board } from './board.ts';
import { type Line, lines, type Reply, react } from './script.ts';
import type { Stage } from './stage.ts';
import { carryOut } from './tools.ts';

/** A person needs a moment to read before answering. */
const READING_MS = 900;

/**
 * The loop of the agent. It sleeps until the user says something or a notice arrives, and never
 * waits for a task. Only the model is missing: its part is in script.ts.
 */
export async function runAgent(
  thread: Supervisor,
  stage: Stage,
  interrupt: AbortSignal,
): Promise<void> {
  const waking$ = thread.notices.arriving$.pipe(filter(({ wake }) => wake));
  const wakeUps$ = merge(userOf(thread.tasks$), waking$).pipe(
    takeUntil(fromEvent(interrupt, 'abort')),
  );
  for await (const wakeUp of toAsyncIterable(wakeUps$)) {
    await hearNotices(thread, stage);
    if (!('says' in wakeUp)) continue;
    stage.tell('you', wakeUp.says);
    await act(thread, stage, wakeUp.reply);
    if (wakeUp === lines.at(-1)) return;
  }
}

/** The user: reads the board and says the next line when its time has come. */
function userOf(tasks$: Observable<readonly TaskRecord[]>): Observable<Line> {
  return from(lines).pipe(
    concatMap((line) =>
      tasks$.pipe(
        filter((records) => line.once(new Board(records))),
        take(1),
        delay(READING_MS),
        map(() => line),
      ),
    ),
  );
}

/** A notice comes again until it is acknowledged, so a loop that breaks down here loses none. */
async function hearNotices(thread: Supervisor, stage: Stage): Promise<void> {
  const notices = await thread.notices.take();
  for (const notice of notices) {
    stage.tell('notice', `${notice.title}: ${notice.kind}`);
    await act(thread, stage, react(notice, await boardOf(thread)));
    await thread.notices.acknowledge([notice]);
  }
}

async function act(thread: Supervisor, stage: Stage, reply: Reply): Promise<void> {
  if (reply.thinks) stage.tell('thought', reply.thinks);
  for (const call of reply.calls ?? []) {
    const result = await carryOut(thread, call);
    const [tool, ...values] = Object.values(call);
    stage.tell('call', `${tool}(${values.join(', ')}) -> ${result}`);
  }
  if (reply.says) stage.tell('agent', reply.says(await boardOf(thread)));
}

async function boardOf(thread: Supervisor): Promise<Board> {
  return new Board((await thread.list()).map((task) => task.snapshot()));
}
