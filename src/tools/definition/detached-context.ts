import type { Artifact } from '../../../machines/index.ts';
import type { NewArtifact } from '../../task/artifact.ts';
import { ToolError } from '../result/tool-error.ts';
import type { ToolCall } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

/**
 * The context of a call without a runtime: a signal that never aborts, and words that go nowhere.
 * What needs somebody else, such as a question, rejects with an error that the model may see.
 */
export function detachedContext(call: ToolCall): ToolContext {
  return {
    call,
    id: '',
    owner: '',
    turn: null,
    parent: null,
    thread: null,
    attempt: 1,
    isResume: false,
    resumedFrom: null,
    prepared: undefined,
    decision: null,
    signal: new AbortController().signal,
    graceMs: 0,
    status: ignore,
    progress: ignore,
    summary: ignore,
    evidence: ignore,
    artifact: noArtifact as ToolContext['artifact'],
    link: ignore,
    output: resolve,
    checkpoint: resolve,
    send: resolve,
    step: async (_name, run) => run(),
    children: async () => [],
    messages: { [Symbol.asyncIterator]: () => ({ next: noMore }) },
    receive: () => alone('wait for a message'),
    requestInput: () => alone('ask a question'),
    spawn: () => alone('start a task'),
  };
}

function ignore(): void {}

/** A file that is elsewhere may be noted for nobody; for a new one there is no place. */
function noArtifact(artifact: Artifact | NewArtifact): Promise<never> | undefined {
  return 'content' in artifact ? alone('keep a file') : undefined;
}

async function resolve(): Promise<void> {}

async function noMore(): Promise<IteratorReturnResult<undefined>> {
  return { done: true, value: undefined };
}

/** Rejects, and harms no tool that does not wait for the answer. */
function alone(deed: string): Promise<never> {
  const message = `The tool cannot ${deed} outside a runtime`;
  const rejected = Promise.reject(new ToolError(message, { code: 'context_required' }));
  rejected.catch(ignore);
  return rejected;
}
