import type { InspectedTask, Settings } from './options.ts';

/** Decides which tasks are shown. The cheap questions come first. */
export function filterOf(settings: Settings): (task: InspectedTask) => boolean {
  const owners = settings.owners && new Set(settings.owners);
  const tasks = settings.tasks && new Set(settings.tasks);
  const { sample, filter } = settings;
  return (task) =>
    (owners?.has(task.owner) ?? true) &&
    (tasks?.has(task.definition) ?? true) &&
    (sample >= 1 || placeOf(task.id) < sample) &&
    (filter?.(task) ?? true);
}

/** A number in [0, 1) that only the id decides: FNV-1a, with a mix since ids differ mostly at their ends. */
function placeOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
