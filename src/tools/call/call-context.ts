import type { RunContext } from '../../task/run-context.ts';
import type { ToolContext } from '../definition/tool-context.ts';

type OfCall = Exclude<keyof ToolContext, keyof RunContext>;
type OfBody = Exclude<keyof ToolContext, OfCall>;

const OF_BODY: { readonly [Key in OfBody]: true } = {
  id: true,
  owner: true,
  attempt: true,
  signal: true,
  graceMs: true,
  resumedFrom: true,
  status: true,
  progress: true,
  output: true,
  checkpoint: true,
  step: true,
  requestInput: true,
  receive: true,
  messages: true,
  send: true,
  summary: true,
  evidence: true,
  artifact: true,
  link: true,
  spawn: true,
  children: true,
};

/** What the body of a task gets, made on demand as there, with what is known of the call beside it. */
export function callContext(
  context: RunContext<unknown>,
  ofCall: Pick<ToolContext, OfCall>,
): ToolContext {
  const given = { ...ofCall };
  for (const key of Object.keys(OF_BODY) as OfBody[]) {
    Object.defineProperty(given, key, { get: () => context[key], enumerable: true });
  }
  return given as ToolContext;
}
