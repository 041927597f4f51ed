import type { Tool } from '../definition/tool.ts';
import { isObject } from './tool-args.ts';

/** The argument by which the model asks for the background. */
export const RUN_IN_BACKGROUND = 'run_in_background';

/** The arguments without the request for the background, and whether there was one. */
export type RouteInArgs =
  | { readonly kind: 'read'; readonly args: unknown; readonly isBackground: boolean }
  | { readonly kind: 'refused'; readonly message: string };

/** Takes `run_in_background` out of the arguments of a tool that has it; others keep theirs. */
export function readRouteInArgs({ background }: Tool, args: unknown): RouteInArgs {
  if (background === null || !isObject(args)) return { kind: 'read', args, isBackground: false };
  const { [RUN_IN_BACKGROUND]: wish, ...rest } = args;
  if (wish === undefined || wish === null || typeof wish === 'boolean') {
    return { kind: 'read', args: rest, isBackground: wish === true };
  }
  return { kind: 'refused', message: `\`${RUN_IN_BACKGROUND}\` must be true or false` };
}
