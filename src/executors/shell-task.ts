import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import { defineTask, type TaskDefinition, type TaskOptions } from '../task/definition.ts';
import { OffstageError } from '../task/errors.ts';
import { quote } from '../task/ids.ts';
import type { Schema } from '../task/schema.ts';
import { leaveTime } from './leave-time.ts';
import { runShell, type ShellPolicy, type ShellResult } from './run-shell.ts';
import type { ShellCommand, ShellRun } from './shell-command.ts';

/** The options of {@link shellTask} that every form has. */
export interface ShellOptions
  extends Omit<TaskOptions<undefined, undefined, unknown>, 'input' | 'output' | 'run'> {
  /** Time in ms between SIGTERM and SIGKILL. Default 2,000, or half of `graceMs` if that is less. */
  readonly killAfterMs?: number;
  /** Exit codes that count as success. Default `[0]`. */
  readonly okExitCodes?: readonly number[];
  /**
   * Leaves processes alone that the command started and left behind at its normal end. What they
   * write later is not read, so they should write elsewhere. Default `false`: they are ended.
   */
  readonly keepOrphans?: boolean;
}

/** The input of a shell task without a `command` of its own. */
export interface ShellInput {
  /** A script for `/bin/sh`. */
  readonly command: string;
  readonly cwd?: string | undefined;
}

/** Makes the command from the parsed input. A string is a script for `/bin/sh`. */
export type MakeCommand<Input> = (
  input: Input,
  run: ShellRun,
) => ShellCommand | string | Promise<ShellCommand | string>;

const anyCommand = z.object({
  command: z.string().min(1).describe('A script for /bin/sh'),
  cwd: z.string().min(1).optional().describe('The directory to run it in'),
});

/**
 * A task that runs a process. What it writes becomes the output of the task, under the streams
 * `stdout` and `stderr`. Without `command` the input itself is a script.
 *
 * The process leads a group of its own. Cancel, stop and time-out end the whole group: SIGTERM, and
 * SIGKILL after `killAfterMs`. The body leaves only when no process of the group runs any more, and
 * the event `cancelled` or `stopped` carries a {@link ShellEvidence}. What a command leaves behind
 * at its normal end is ended too, unless `keepOrphans` is set, and what still runs when this
 * process exits is killed.
 *
 * Failures: `exit_nonzero`, `killed` (by a signal that did not come from here), `spawn_failed`.
 *
 * Gotchas: a process that leaves the group (`setsid`, a daemon) is out of reach. A shell that does
 * not find a program ends with exit code 127, which is `exit_nonzero`. On Windows there are no
 * groups: the process tree is ended at once by `taskkill`, and orphans are not found.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'offstage';
 * import { shellTask } from 'offstage/executors';
 * import { z } from 'zod';
 *
 * const sh = shellTask({ name: 'sh' });
 * const clone = shellTask({
 *   name: 'clone',
 *   input: z.object({ url: z.url() }),
 *   command: ({ url }) => ({ file: 'git', args: ['clone', '--', url], cwd: '/tmp' }),
 *   timeoutMs: 60_000,
 * });
 *
 * const runtime = await createRuntime({ tasks: [sh, clone] });
 * const task = await runtime.supervisor('thread-1').spawn(sh, { command: 'echo hello' });
 * await task.result(); // { exitCode: 0, signal: null, durationMs: 4 }
 * (await task.output()).text; // 'hello\n'
 * ```
 */
export function shellTask<In extends Schema>(
  options: ShellOptions & {
    readonly input: In;
    readonly command: MakeCommand<StandardSchemaV1.InferOutput<In>>;
  },
): TaskDefinition<StandardSchemaV1.InferInput<In>, ShellResult>;
export function shellTask(
  options: ShellOptions & { readonly input?: never; readonly command: MakeCommand<undefined> },
): TaskDefinition<undefined, ShellResult>;
export function shellTask(
  options: ShellOptions & { readonly input?: never; readonly command?: never },
): TaskDefinition<ShellInput, ShellResult>;
export function shellTask(
  options: ShellOptions & { readonly input?: Schema; readonly command?: MakeCommand<never> },
): TaskDefinition<unknown, ShellResult> {
  const { killAfterMs, okExitCodes, keepOrphans, command, ...definition } = options;
  const policy: ShellPolicy = {
    killAfterMs: leaveTime('killAfterMs', killAfterMs, options.graceMs),
    okExitCodes: checkExitCodes(okExitCodes ?? [0]),
    keepOrphans: keepOrphans ?? false,
  };
  const make = (command ?? anyScript) as MakeCommand<unknown>;
  const input = command === undefined ? anyCommand : options.input;
  return defineTask<ShellResult, Schema | undefined>({
    kind: 'shell',
    ...definition,
    input,
    async run(context) {
      const { id, owner, attempt } = context;
      const made = await make(context.input, { id, owner, attempt });
      const asCommand = typeof made === 'string' ? { file: made, shell: true } : made;
      return runShell(context, asCommand, policy);
    },
  });
}

function anyScript({ command, cwd }: z.infer<typeof anyCommand>): ShellCommand {
  const script = { file: command, shell: true };
  return cwd === undefined ? script : { ...script, cwd };
}

function checkExitCodes(codes: readonly number[]): readonly number[] {
  for (const code of codes) {
    if (Number.isInteger(code) && code >= 0) continue;
    throw new OffstageError(
      'invalid_option',
      `\`okExitCodes\` must hold whole numbers, 0 or more, but has ${quote(code)}.`,
      { option: 'okExitCodes', value: code },
    );
  }
  return codes;
}
