import type { Artifact, Json } from '../../machines/index.ts';
import {
  type ArtifactContent,
  artifactTypeOf,
  checkArtifactName,
  checkContent,
  type NewArtifact,
  resultMarker,
} from '../task/artifact.ts';
import { OffstageError } from '../task/errors.ts';
import { within } from '../task/within.ts';
import type { Executor } from './executor.ts';

/** How long in ms a result may take to be written before the task ends without it. */
const PATIENCE_MS = 30_000;
const NOT_WRITTEN = 'The file could not be written';
const RESULT = 'result.json';
/** Where the other name is that of a file which was noted. */
const OTHER_RESULT = 'output.json';

/**
 * Writes a file for a task and notes it. If it cannot be written that is noted instead, and told to
 * whoever runs this: a full disk is no reason for a task to fail.
 */
export async function keepArtifact(executor: Executor, given: NewArtifact): Promise<Artifact> {
  const name = checkArtifactName(given.name);
  const type = artifactTypeOf(given);
  const source = watched(checkContent(given.content));
  executor.throwIfUnheard();
  const artifact = await put(executor, { name, type }, source);
  await executor.tellNow({ kind: 'artifact', artifact });
  return artifact;
}

/** Keeps a result that is too large for a record. Gives what stands for it, or `null` if that failed. */
export async function keepResult(executor: Executor, text: string): Promise<Json> {
  const { record, host } = executor.cell;
  const isNoted = [...record.artifacts, ...executor.reports.artifacts].some(
    ({ name, hash }) => name === RESULT && hash === undefined,
  );
  const about = { name: isNoted ? OTHER_RESULT : RESULT, type: 'application/json' };
  const source = { content: text, failure: null };
  const inTime: InTime = (run) => within(PATIENCE_MS, host.clock, run);
  const artifact = await put(executor, about, source, inTime);
  executor.tell({ kind: 'artifact', artifact });
  return artifact.error === undefined ? resultMarker(artifact) : null;
}

type InTime = <Value>(run: () => Promise<Value>) => Promise<Value>;

async function put(
  { cell }: Executor,
  about: Pick<Artifact, 'name' | 'type'>,
  source: Source,
  inTime: InTime = (run) => run(),
): Promise<Artifact> {
  const { artifacts } = cell.host;
  if (artifacts === null) {
    throw new OffstageError(
      'no_artifacts',
      `Task ${cell.id} cannot keep a file: give createRuntime() the option \`artifacts\`.`,
      { taskId: cell.id },
    );
  }
  const directory = artifacts.directoryOf(cell.record);
  try {
    const { path, size, hash } = await inTime(async () => artifacts.put(directory, source.content));
    return { ...about, path, size, hash };
  } catch (error) {
    // What the body's own source throws is the body's to know.
    if (source.failure !== null) throw source.failure.error;
    cell.host.report(error, { where: 'artifact', task: cell.id });
    return { ...about, path: directory, size: 0, error: NOT_WRITTEN };
  }
}

/** A content, and what its source threw. */
interface Source {
  content: ArtifactContent;
  failure: { readonly error: unknown } | null;
}

function watched(content: ArtifactContent): Source {
  const source: Source = { content, failure: null };
  if (typeof content === 'string' || content instanceof Uint8Array) return source;
  source.content = (async function* () {
    try {
      yield* content;
    } catch (error) {
      source.failure = { error };
      throw error;
    }
  })();
  return source;
}
