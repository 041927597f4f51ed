import { setTimeout as pause } from 'node:timers/promises';
import { isOffstageError } from '../../../src/index.ts';
import type { Journal } from '../journal.ts';
import { OWNERS } from '../protocol.ts';
import { pick } from '../random.ts';
import type { Client } from './client.ts';
import { type DeedName, deedsOf, leadsTo, USUAL } from './deeds.ts';
import { armedPoint } from './gate.ts';
import { help } from './help.ts';

/** What callers may be told of a task that is in other hands, or has ended. */
const EXPECTED = new Set([
  'already_cancelling',
  'already_decided',
  'already_ended',
  'already_running',
  'already_stopped',
  'already_stopping',
  'executor_still_running',
  'fenced',
  'invalid_input',
  'limit_reached',
  'no_such_request',
  'not_receiving',
  'not_resumable',
  'parent_not_running',
  'runtime_closed',
  'store_busy',
  'task_cancelled',
  'task_failed',
  'task_stopped',
]);

const LOTS = Object.entries(USUAL).flatMap(([name, lots]) =>
  Array.from({ length: lots }, () => name as DeedName),
);

/** Does one thing after the other to the tasks of all processes. */
export class Workload {
  readonly #client: Client;
  readonly #deeds: ReturnType<typeof deedsOf>;
  readonly #journal: Journal;
  readonly #random: () => number;
  #mode: 'busy' | 'draining' | 'over' = 'busy';

  constructor(client: Client, journal: Journal, random: () => number) {
    this.#client = client;
    this.#deeds = deedsOf(client, random);
    this.#journal = journal;
    this.#random = random;
  }

  drain(): void {
    if (this.#mode === 'busy') this.#mode = 'draining';
  }

  end(): void {
    this.#mode = 'over';
  }

  async run(): Promise<void> {
    while (this.#mode !== 'over') {
      const owner = pick(this.#random, OWNERS) ?? OWNERS[0];
      if (this.#mode === 'draining') await help(this.#client, owner, (deed) => this.#try(deed));
      else if (armedPoint() !== 'phase idle') await this.#try(() => this.#next()(owner));
      await pause(3 + this.#random() * 10);
    }
  }

  async #try(run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (isOffstageError(error) && EXPECTED.has(error.code)) return;
      this.#journal.note({ what: 'error', where: 'caller', message: String(error) });
    }
  }

  #next() {
    const point = armedPoint();
    const leads = point === null ? [] : leadsTo(point);
    const isLed = leads.length > 0 && this.#random() < 0.7;
    return this.#deeds[pick(this.#random, isLed ? leads : LOTS) ?? 'quick'];
  }
}
