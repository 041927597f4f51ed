import { OffstageError } from '../../task/errors.ts';
import { checkOneOf } from '../../task/options.ts';

/** The task tools, by the names they have unless they are remapped. */
const TASK_TOOLS = [
  'task_list',
  'task_status',
  'task_output',
  'task_wait',
  'task_cancel',
  'task_stop',
  'task_resume',
  'task_send',
  'task_answer',
  'report_progress',
] as const;

/** One of the task tools. */
export type TaskToolName = (typeof TASK_TOOLS)[number];

/** Which task tools there are, and what they are called. */
export interface TaskToolsOptions {
  /** Other names for some of them. Their descriptions use these names too. */
  readonly names?: Partial<Record<TaskToolName, string>>;
  /** Only these. Default: all. */
  readonly only?: readonly TaskToolName[];
}

/** What the tools are called, for those that speak of each other. */
export class ToolNames {
  readonly tools: readonly TaskToolName[];
  readonly #names: ReadonlyMap<TaskToolName, string>;

  constructor({ names = {}, only = TASK_TOOLS }: TaskToolsOptions) {
    for (const name of Object.keys(names)) checkOneOf('names', name as TaskToolName, TASK_TOOLS);
    for (const name of only) checkOneOf('only', name, TASK_TOOLS);
    this.tools = TASK_TOOLS.filter((name) => only.includes(name));
    this.#names = new Map(this.tools.map((name) => [name, names[name] ?? name]));
    checkUnique([...this.#names.values()]);
  }

  of(tool: TaskToolName): string {
    return this.#names.get(tool) ?? tool;
  }

  /** A sentence about a tool, empty if the model does not have that tool. */
  about(tool: TaskToolName, sentence: (name: string) => string): string {
    const name = this.#names.get(tool);
    return name === undefined ? '' : ` ${sentence(name)}`;
  }
}

function checkUnique(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  const message = `Two task tools are called ${JSON.stringify(twice)}; give each a name of its own.`;
  throw new OffstageError('invalid_option', message, { option: 'names', value: twice });
}
