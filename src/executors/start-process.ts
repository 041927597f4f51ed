import type { Readable } from 'node:stream';
import { bodyError } from './body-error.ts';
import { killOnExit } from './live-groups.ts';
import { ProcessGroup, type ProcessTree } from './process-group.ts';
import { programOf, type ShellCommand } from './shell-command.ts';

/** How a process ended: by itself, with an exit code, or by a signal. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that runs. */
export interface RunningProcess {
  readonly tree: ProcessTree;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process itself has ended, whatever it leaves behind. */
  readonly exited: Promise<ProcessExit>;
  /** Lets go of what is left of it. */
  release(): void;
}

const isWindows = process.platform === 'win32';
/** What no further attempt can change: no such program, or no right to run it. */
const HOPELESS = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC']);

/** Starts a process as the leader of a group of its own. Throws `spawn_failed`. */
export async function startProcess(
  command: ShellCommand,
  signal: AbortSignal,
): Promise<RunningProcess> {
  // Loaded on demand: a worker module that imports this package needs none of it.
  const { execa } = await import('execa');
  signal.throwIfAborted();
  const { file, args, shell } = programOf(command);
  const { cwd, env, extendEnv, stdin } = command;
  const child = execa(file, args, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(extendEnv === undefined ? {} : { extendEnv }),
    ...(stdin === undefined ? { stdin: 'ignore' } : { input: stdin }),
    shell,
    encoding: 'buffer',
    buffer: false,
    reject: false,
    // Makes the group on POSIX, and kills it if a signal ends this process.
    killDescendants: true,
    killSignal: 'SIGKILL',
  });
  const { pid, nodeChildProcess, stdout, stderr } = child;
  if (pid === undefined) {
    const { code, originalMessage } = await child;
    const message = `${JSON.stringify(command.file)} could not be started: ${originalMessage}.`;
    throw bodyError('spawn_failed', message, HOPELESS.has(code ?? '') ? { retryable: false } : {});
  }

  let hasExited = false;
  const exited = new Promise<ProcessExit>((resolve) => {
    nodeChildProcess.once('exit', (exitCode, exitSignal) => {
      hasExited = true;
      resolve({ exitCode, signal: exitSignal });
    });
  });
  const tree: ProcessTree = isWindows
    ? {
        id: pid,
        members: () => (hasExited ? [] : [pid]),
        signal: (name) => child.kill(name),
        isGone: () => hasExited,
      }
    : new ProcessGroup(pid);
  const release = isWindows ? () => {} : killOnExit(pid);
  return { tree, stdout, stderr, exited, release };
}
