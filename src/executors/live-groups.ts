import { sendToGroup } from './process-group.ts';

const live = new Set<number>();

/** Kills a group if this process exits before the group was released. Gives back how to release it. */
export function killOnExit(group: number): () => void {
  if (live.size === 0) process.on('exit', killAll);
  live.add(group);
  return () => {
    live.delete(group);
    if (live.size === 0) process.off('exit', killAll);
  };
}

/** There is no time left to ask first. */
function killAll(): void {
  for (const group of live) sendToGroup(group, 'SIGKILL');
}
