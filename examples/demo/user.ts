import type { TaskRecord } from 'offstage';
import { concatMap, delay, filter, from, map, type Observable, take } from 'rxjs';
import { Board } from './board.ts';
import type { Place } from './place.ts';
import { type Line, lines } from './script.ts';

/** A person needs a moment to read before answering. */
const READING_MS = 900;

/**
 * The user: reads the board and says the next line when its time has come. One that was cut off in
 * the middle is said again at once.
 */
export function userOf(
  tasks$: Observable<readonly TaskRecord[]>,
  { line: first, isBegun }: Place,
): Observable<Line> {
  const cutOff = isBegun ? lines[first] : undefined;
  return from(lines.slice(first)).pipe(
    concatMap((line) =>
      tasks$.pipe(
        filter((records) => line === cutOff || line.once(new Board(records))),
        take(1),
        delay(READING_MS),
        map(() => line),
      ),
    ),
  );
}
