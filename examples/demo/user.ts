import type { TaskRecord } from 'offstage';
import { concatMap, delay, filter, from, map, type Observable, take } from 'rxjs';
import { Board } from './board.ts';
import { type Line, lines } from './script.ts';

/** A person needs a moment to read before answering. */
const READING_MS = 900;

/** The user: reads the board and says the next line when its time has come. */
export function userOf(tasks$: Observable<readonly TaskRecord[]>): Observable<Line> {
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
