import type { Artifact, Json } from '../../machines/index.ts';
import { invalid } from './options.ts';
import type { TaskRecord } from './record.ts';

/** What a file is to hold. A text is stored as UTF-8. */
export type ArtifactContent = string | Uint8Array | AsyncIterable<Uint8Array | string>;

/** A file that a task leaves behind, with its content. */
export interface NewArtifact {
  /**
   * The plain name of a file, by which it is asked for. A later one of the same name takes its place.
   */
  readonly name: string;
  /** Its media type. Default `text/plain` for a text, otherwise `application/octet-stream`. */
  readonly type?: string;
  readonly content: ArtifactContent;
}

/** A file that a task has left behind, to be read. */
export interface ArtifactFile extends Artifact {
  /**
   * Its content, as it was stored. Rejects with `artifact_unavailable` if it is not there any more,
   * was changed, or is not kept by this runtime.
   */
  read(): Promise<Uint8Array>;
}

const LONGEST_NAME = 200;
const LONGEST_TYPE = 200;
/** What no file system takes, or what would lead out of a directory. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const FORBIDDEN = /[\u0000-\u001f\u007f/\\:*?"<>|]|^\.|^\s|[.\s]$/u;
/** Names that are devices on Windows, whatever their ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/iu;

/** Refuses a name that is not that of a file on every system. */
export function checkArtifactName(name: string): string {
  const isText = typeof name === 'string' && name !== '' && name.isWellFormed();
  if (isText && name.length <= LONGEST_NAME && !FORBIDDEN.test(name) && !DEVICE.test(name)) {
    return name;
  }
  throw invalid('name', name, `the plain name of a file, of at most ${LONGEST_NAME} characters`);
}

/** The media type of a new file. */
export function artifactTypeOf({ type, content }: NewArtifact): string {
  if (type === undefined) {
    return typeof content === 'string' ? 'text/plain' : 'application/octet-stream';
  }
  if (typeof type === 'string' && type !== '' && type.length <= LONGEST_TYPE) return type;
  throw invalid('type', type, 'a media type such as `text/plain`');
}

/** Refuses what cannot be the content of a file. */
export function checkContent(content: ArtifactContent): ArtifactContent {
  if (typeof content === 'string' || content instanceof Uint8Array) return content;
  if (typeof content === 'object' && content !== null && Symbol.asyncIterator in content) {
    return content;
  }
  throw invalid('content', content, 'a text, a Uint8Array or an async iterable of them');
}

/** What an outcome holds in the place of a result that is too large for it. */
export function resultMarker({ name, size, hash }: Artifact): Json {
  return { $artifact: name, size, hash: hash ?? null };
}

/** The file that holds the result of a task, `null` if its outcome holds it itself. */
export function resultArtifact({ outcome, artifacts }: TaskRecord): Artifact | null {
  if (outcome?.kind !== 'completed') return null;
  const { output } = outcome;
  if (typeof output !== 'object' || output === null || !('$artifact' in output)) return null;
  // A task may give back such an object itself: only what was kept as its result counts.
  const { $artifact, hash = null, size } = output;
  const isIt = (each: Artifact) =>
    each.name === $artifact && each.hash === hash && each.size === size;
  return artifacts.find(isIt) ?? null;
}
