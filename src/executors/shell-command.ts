/** A process to run. */
export interface ShellCommand {
  /** The program, or with `shell` a script. */
  readonly file: string;
  /**
   * Arguments, passed as they are. With `shell` the script finds them as `"$1"`, `"$2"`…, which is
   * the safe way to hand it text that nobody has checked; on Windows they are only appended to it.
   */
  readonly args?: readonly string[];
  /** Runs `file` as a script: `true` by `/bin/sh`, a string by that shell. Default `false`. */
  readonly shell?: boolean | string;
  /** Default: that of this process. */
  readonly cwd?: string | URL;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the variables of this process are passed on too. Default `true`. */
  readonly extendEnv?: boolean;
  /** What the process can read. Default: nothing. */
  readonly stdin?: string | Uint8Array;
}

/** What a command may depend on besides its input. */
export interface ShellRun {
  readonly id: string;
  readonly owner: string;
  /** 1 for the first run, one more for each retry and resume. */
  readonly attempt: number;
}

/** A command in the terms of the system. */
interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** Only on Windows, where shells quote each in its own way. */
  readonly shell: boolean | string;
}

/** A script becomes an argument of its shell, so that its own arguments need no quoting. */
export function programOf(command: ShellCommand): Program {
  const { file, args = [], shell = false } = command;
  if (shell === false || process.platform === 'win32') return { file, args, shell };
  const program = shell === true ? '/bin/sh' : shell;
  return { file: program, args: ['-c', file, program, ...args], shell: false };
}
