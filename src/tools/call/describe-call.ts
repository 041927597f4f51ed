import type { Json } from '../../../machines/index.ts';
import { shortened } from '../../supervisor/failure.ts';
import type { CallUnderWay } from './started-call.ts';
import { isObject } from './tool-args.ts';

/** What the record of a call's task says about it: `given` as the model sent them, `args` as parsed. */
export function describeCall({ tool, scope, mode }: CallUnderWay, given: Json, args: unknown) {
  const { background: hooks } = tool;
  const { turn, delivery, continue: policy } = scope;
  const own = hooks?.describe?.(args);
  const said = isObject(given) ? [own, given.description, given.command] : [own];
  const text = shortened(said.find(isText) ?? tool.name);
  return {
    title: tool.title ?? tool.name,
    description: mode === 'background' ? `${text} (background)` : text,
    metadata: hooks?.metadata?.(args) ?? {},
    mode,
    // The continue policy decides, so that a notice wakes the loop only where that was asked for.
    wake: 'silent' as const,
    ...(turn !== undefined && { turn }),
    ...(delivery && { delivery }),
    ...(policy && { continue: policy }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
