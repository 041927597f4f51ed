import type { RunContext } from '../task/run-context.ts';
import { bodyError } from './body-error.ts';
import { endTree } from './end-tree.ts';
import { withinGrace } from './leave-time.ts';
import { OutputPump } from './output-pump.ts';
import type { ShellCommand } from './shell-command.ts';
import { type ProcessExit, startProcess } from './start-process.ts';
import { endsBeforeAbort } from './waiting.ts';

/** What a shell task gives back. */
export type ShellResult = {
  readonly exitCode: number;
  /** Always `null`: a process that a signal ended is a failure. */
  readonly signal: null;
  readonly durationMs: number;
};

/** How a command is run and what counts as success. */
export interface ShellPolicy {
  readonly killAfterMs: number;
  readonly okExitCodes: readonly number[];
  readonly keepOrphans: boolean;
}

/** Time for what a finished command leaves behind to end by itself, such as the `tee` of a script. */
const ORPHANS_LEAVE_MS = 100;

/** Runs a command to its end, or ends it when the task is told to leave. Nothing of it is left then. */
export async function runShell(
  context: RunContext<unknown>,
  command: ShellCommand,
  policy: ShellPolicy,
): Promise<ShellResult> {
  const startedAt = performance.now();
  const { signal } = context;
  const child = await startProcess(command, signal);
  const stdout = new OutputPump(child.stdout, (text) => context.output(text));
  const stderr = new OutputPump(child.stderr, (text) => context.output(text, { stream: 'stderr' }));
  try {
    const endedItself = await endsBeforeAbort(child.exited, signal);
    if (!endedItself || !policy.keepOrphans) {
      const evidence = await endTree(child.tree, {
        leaveMs: endedItself ? ORPHANS_LEAVE_MS : 0,
        killAfterMs: withinGrace(policy.killAfterMs, context.graceMs),
        onStuck: (soFar) => context.evidence(soFar),
      });
      if (!endedItself || evidence.stages.length > 0) context.evidence(evidence);
    }
    const exit = await child.exited;
    await Promise.all([stdout.finish(), stderr.finish()]);
    if (!endedItself) throw signal.reason;
    const durationMs = Math.round(performance.now() - startedAt);
    return { exitCode: exitCodeOf(exit, policy, stderr.tail), signal: null, durationMs };
  } finally {
    child.release();
  }
}

/** The exit code of a success. Throws `killed` or `exit_nonzero`. */
function exitCodeOf(exit: ProcessExit, { okExitCodes }: ShellPolicy, stderr: string): number {
  const { exitCode, signal } = exit;
  if (exitCode !== null && okExitCodes.includes(exitCode)) return exitCode;
  const said = stderr.trim() === '' ? '' : ` Its last words on stderr:\n${stderr.trim()}`;
  if (exitCode !== null) {
    throw bodyError('exit_nonzero', `The command ended with exit code ${exitCode}.${said}`);
  }
  throw bodyError('killed', `The command was killed by ${signal ?? 'an unknown signal'}.${said}`);
}
