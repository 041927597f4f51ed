import { OffstageError } from '../task/errors.ts';
import { checkDuration } from '../task/options.ts';

const DEFAULT_MS = 2_000;

/** Below the grace that the body really has, which the runtime may set: the rest is for the forced end. */
export function withinGrace(leaveMs: number, graceMs: number): number {
  return leaveMs < graceMs ? leaveMs : graceMs / 2;
}

/**
 * How long a process or a worker may take to leave when asked, before it is ended by force. The
 * default stays below the grace of the definition, so that the body is not abandoned meanwhile.
 */
export function leaveTime(
  option: string,
  given: number | undefined,
  graceMs: number | undefined,
): number {
  const grace = checkDuration('graceMs', graceMs);
  const asked = checkDuration(option, given);
  if (asked === null) return grace === null ? DEFAULT_MS : Math.min(DEFAULT_MS, grace / 2);
  if (grace === null || asked === 0 || asked < grace) return asked;
  throw new OffstageError(
    'invalid_option',
    `\`${option}\` is ${asked} but must be below \`graceMs\`, which is ${grace}; otherwise every cancel abandons the body.`,
    { option, value: asked },
  );
}
