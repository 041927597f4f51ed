import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const PID = /^\d+$/;

/** Pids of the processes of a group that still run, `null` if the system does not tell. A zombie has ended. */
export function membersOf(group: number): readonly number[] | null {
  return process.platform === 'linux' ? membersByProc(group) : membersByPs(group);
}

/** Whether one process runs in a group. Only Linux tells at so low a cost; elsewhere `false`. */
export function isMember(pid: number, group: number): boolean {
  if (process.platform !== 'linux') return false;
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return false;
  }
  // The name of the command comes first, in parentheses, and may hold spaces and parentheses itself.
  const [state, , groupOfPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
  return Number(groupOfPid) === group && state !== 'Z' && state !== 'X';
}

function membersByProc(group: number): readonly number[] | null {
  try {
    const pids = readdirSync('/proc').filter((name) => PID.test(name));
    return pids.map(Number).filter((pid) => isMember(pid, group));
  } catch {
    return null;
  }
}

/** For systems without `/proc`, such as macOS. */
export function membersByPs(group: number): readonly number[] | null {
  try {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,pgid=,stat='], { encoding: 'utf8' });
    return lines.split('\n').flatMap((line) => {
      const [pid, groupOfPid, state = 'Z'] = line.trim().split(/\s+/);
      return Number(groupOfPid) === group && !state.startsWith('Z') ? [Number(pid)] : [];
    });
  } catch {
    return null;
  }
}
