import type { Tool } from '../definition/tool.ts';
import { withoutId } from './task-id-in-args.ts';
import { type CheckedArgs, checkArgs } from './tool-args.ts';

/** Checks arguments without the id of a task in them. Only a schema that insists on its key gets it. */
export async function checkCallArgs(tool: Tool, args: unknown, id: string): Promise<CheckedArgs> {
  const bare = withoutId(tool, args, id);
  const checked = await checkArgs(tool, bare);
  if (checked.kind === 'valid' || bare === args) return checked;
  const whole = await checkArgs(tool, args);
  return whole.kind === 'valid' ? whole : checked;
}
