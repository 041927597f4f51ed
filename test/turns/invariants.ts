import { Violation } from '../lives/violation.ts';
import { type Entry, type Host, isQuestion } from './host.ts';
import type { World } from './world.ts';

/** What must hold at every moment. */
export function checkTurns(world: World): void {
  if (world.violation) throw world.violation;
  for (const { transcript } of world.hosts) {
    for (const entry of transcript) {
      if (entry.answers.length > 1) throw new Violation(`${nameOf(entry)} has two answers`);
    }
  }
}

/** What must hold whenever everything is stored: a turn that is over has nothing left in the foreground. */
export async function checkOverTurns(world: World): Promise<void> {
  for (const host of world.hosts) {
    if (host.process.isGone) continue;
    const { records } = await world.store.list({ owner: host.owner, statuses: ['running'] });
    for (const { id, mode, phase, turn } of records) {
      if (mode === 'background' || turn === null || host.process.turns.has(turn)) continue;
      if (phase !== 'cancelling') throw new Violation(`${id} goes on in the foreground of no turn`);
    }
    for (const entry of host.transcript) {
      if (host.overTurns.has(entry.turn) && entry.answers.length !== 1) {
        throw new Violation(`${nameOf(entry)} has ${entry.answers.length} answers after its turn`);
      }
    }
  }
}

/** What must hold when all turns are over, all bodies have left and everything is stored and told. */
export async function checkAtRest(world: World): Promise<void> {
  checkTurns(world);
  for (const host of world.hosts) await checkHost(world, host);
}

async function checkHost(world: World, host: Host): Promise<void> {
  for (const entry of host.transcript) {
    if (entry.answers.length !== 1) throw new Violation(`${nameOf(entry)} was never answered`);
  }
  const { records } = await world.store.list({ owner: host.owner });
  for (const { id, status, mode, parent, notify } of records) {
    if (status === 'running' && mode === 'foreground') {
      throw new Violation(`the foreground task ${id} outlived its turn`);
    }
    if (status === 'running') throw new Violation(`${id} still runs`);
    if (mode === 'background' && status === 'cancelled' && !host.cancelledByHost.has(id)) {
      throw new Violation(`the background task ${id} was cancelled by nobody`);
    }
    if (mode === 'background' && parent === null && !notify) {
      throw new Violation(`nobody is told of the end of the background task ${id}`);
    }
    const told = [...host.noticed.values()].flatMap(({ notice }) =>
      notice.task === id && notice.kind === status ? [notice] : [],
    );
    if (mode === 'background' && told.length === 0) {
      throw new Violation(`the end of ${id} was never told`);
    }
    const isTold = told.some((notice) => !isQuestion(notice));
    if (mode === 'foreground' && isTold) throw new Violation(`the end of ${id} was told twice`);
  }
  if (records.length > host.transcript.length) throw new Violation('a call made two tasks');
}

function nameOf({ turn, call }: Entry): string {
  return `${turn}/${call.id} (${call.tool})`;
}
