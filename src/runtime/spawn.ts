import type { Json } from '../../machines/index.ts';
import { Cell } from '../supervisor/cell.ts';
import { currentBody } from '../supervisor/current.ts';
import { initialSnapshot } from '../supervisor/decide.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { isOffstageError, OffstageError, refused, unknownTask } from '../task/errors.ts';
import type { TaskHandle } from '../task/handle.ts';
import { checkId, newId, quote } from '../task/ids.ts';
import { copyJson, sameJson, toJson } from '../task/json.ts';
import { checkOneOf, checkText, invalid } from '../task/options.ts';
import { mergeLinks, type TaskRecord } from '../task/record.ts';
import { parse } from '../task/schema.ts';
import type { SpawnOptions } from '../task/spawn-options.ts';
import type { Engine } from './engine.ts';
import { recoverWhole } from './recover.ts';
import { StoredTask } from './stored-task.ts';

/** What a spawn takes, with the scope of its dedupe key if that is not the owner. */
export interface ScopedSpawnOptions extends SpawnOptions {
  readonly keyScope?: string;
  readonly kind?: string;
  readonly turn?: string;
  readonly call?: string;
  readonly spec?: Json;
  /** For the body alone, never stored. */
  readonly prepared?: unknown;
}

const WAKES = ['silent', 'onTerminal', 'onActivity'] as const;
const RESERVED = new Set(['self', 'parent', 'child']);

/** Stores a new task and starts it. Whatever is wrong is said before anything is stored. */
export function spawn<Input, Output>(
  engine: Engine,
  owner: string,
  definition: TaskDefinition<Input, Output>,
  input: Input | undefined,
  options: ScopedSpawnOptions,
): Promise<TaskHandle<Output, Input>> {
  try {
    engine.throwIfClosing();
    engine.registry.check(owner, definition);
    // Checked as it will be stored: what fits only before it became JSON would fail in every attempt.
    const stored =
      input === undefined ? undefined : toJson('The input', input, engine.limits.input);
    const parsed = parse(definition.inputSchema, copyJson(stored), 'invalid_input', 'The input');
    const wanted = { owner, definition, input: stored, options };
    if (parsed instanceof Promise) return parsed.then(() => startOrFind(engine, wanted));
    return startOrFind(engine, wanted);
  } catch (error) {
    return Promise.reject(error);
  }
}

interface Wanted {
  readonly owner: string;
  readonly definition: TaskDefinition;
  readonly input: Json | undefined;
  readonly options: ScopedSpawnOptions;
}

/** A key gives back the task that is there, even where a new one could not be started. */
function startOrFind<Output, Input>(
  engine: Engine,
  wanted: Wanted,
): Promise<TaskHandle<Output, Input>> {
  try {
    return start(engine, wanted);
  } catch (error) {
    return explain(engine, wanted, error);
  }
}

async function explain<Output, Input>(
  engine: Engine,
  wanted: Wanted,
  error: unknown,
): Promise<TaskHandle<Output, Input>> {
  const { owner, options } = wanted;
  const key = keyOf(options);
  const existing = key === null ? null : await engine.store.findByKey(owner, key);
  if (existing) {
    const task = sameWork<Output, Input>(engine, wanted, existing);
    // Who asks for work that lies about wants it to be done.
    if (!engine.cells.has(task.id)) await recoverWhole(engine, existing);
    return task;
  }
  const { parent } = options;
  if (
    parent &&
    isOffstageError(error, 'unknown_task') &&
    (await engine.store.load(owner, parent))
  ) {
    throw refused('parent_not_running', parent);
  }
  throw error;
}

function start<Output, Input>(engine: Engine, wanted: Wanted): Promise<TaskHandle<Output, Input>> {
  engine.throwIfClosing();
  const record = recordOf(engine, wanted);
  const cell = new Cell(engine, wanted.definition, record, initialSnapshot);
  cell.prepared = wanted.options.prepared;
  if (record.parent !== null) engine.kin.trees.check(record);
  engine.admission.enter(cell);
  engine.enter(cell);
  return new Promise((resolve, reject) => {
    cell.create(cell.permit !== 'waiting', (error) => {
      if (error === null) resolve(new StoredTask<Output, Input>(engine, cell));
      else if (isOffstageError(error, 'key_conflict')) resolve(explain(engine, wanted, error));
      else reject(error);
    });
  });
}

/** The task that has the key already, if it does the same work. */
function sameWork<Output, Input>(
  engine: Engine,
  { definition, input }: Wanted,
  found: TaskRecord,
): TaskHandle<Output, Input> {
  if (found.definition === definition.name && sameJson(found.input, input)) {
    return engine.handleOf<Output, Input>(found);
  }
  throw new OffstageError(
    'key_conflict',
    `The key ${quote(found.key)} belongs to task ${found.id} with another definition or input; use another key.`,
    { taskId: found.id, key: found.key ?? '' },
  );
}

function recordOf(engine: Engine, { owner, definition, input, options }: Wanted): TaskRecord {
  const parent = parentOf(engine, owner, options);
  const now = engine.clock.now();
  const mode = checkOneOf('mode', options.mode ?? 'background', ['background', 'foreground']);
  return {
    ...initialSnapshot.context,
    id: idOf(engine, options.id),
    owner,
    definition: definition.name,
    kind: options.kind ?? definition.kind,
    key: keyOf(options),
    name: nameOf(options.name),
    title: checkText('title', options.title) ?? definition.title,
    description: checkText('description', options.description) ?? definition.description,
    parent: parent?.id ?? null,
    link: checkOneOf('link', options.link ?? 'linked', ['linked', 'detached']),
    lineage: parent ? [...parent.lineage, { owner: parent.owner, id: parent.id }] : NO_LINEAGE,
    wake: checkOneOf('wake', options.wake ?? 'onTerminal', WAKES),
    turn: options.turn ?? null,
    call: options.call ?? null,
    spec: toJson('spec', options.spec, engine.limits.input),
    resumable: definition.resumable,
    metadata: toJson('metadata', options.metadata, engine.limits.event),
    creator: engine.holder,
    createdAt: now,
    input,
    status: 'running',
    mode,
    notify: options.notify ?? (mode === 'background' && parent === undefined),
    delivery: checkOneOf('delivery', options.delivery ?? 'loop', ['loop', 'manual']),
    continue: checkOneOf('continue', options.continue ?? 'notify', ['notify', 'request']),
    links: options.links ? mergeLinks(NO_LINKS, options.links) : NO_LINKS,
    artifacts: NO_ARTIFACTS,
    phase: 'queued',
    statusText: 'Queued',
    seq: 0,
    holder: engine.holder,
    progress: null,
    checkpoint: null,
    steps: NO_STEPS,
    inbox: NO_MESSAGES,
    outputLength: 0,
    activityAt: now,
    updatedAt: now,
    endedAt: null,
  };
}

const NO_LINEAGE: TaskRecord['lineage'] = [];
const NO_LINKS: TaskRecord['links'] = [];
const NO_ARTIFACTS: TaskRecord['artifacts'] = [];
const NO_STEPS: TaskRecord['steps'] = {};
const NO_MESSAGES: TaskRecord['inbox'] = [];

function idOf(engine: Engine, id: string | undefined): string {
  if (id === undefined) return newId();
  checkId('id', id);
  if (!engine.cells.has(id)) return id;
  throw new OffstageError('id_taken', `There is a live task ${id} already.`, { taskId: id });
}

function keyOf({ key, keyScope }: ScopedSpawnOptions): string | null {
  if (key === undefined) return null;
  checkId('key', key);
  // A slash cannot stand in an id, so a scoped key never meets an owner's own.
  return keyScope === undefined ? key : `${keyScope}/${key}`;
}

function nameOf(name: string | undefined): string | null {
  if (name === undefined) return null;
  checkId('name', name);
  if (!RESERVED.has(name)) return name;
  throw invalid('name', name, 'none of the reserved words self, parent and child');
}

/** The live parent of a new task: the given one, or the task in which the call is made. */
function parentOf(
  engine: Engine,
  owner: string,
  { parent }: ScopedSpawnOptions,
): TaskRecord | undefined {
  if (parent === null) return undefined;
  const cell = parent === undefined ? ambient(engine, owner) : engine.cells.get(parent);
  if (cell === undefined && parent === undefined) return undefined;
  if (cell?.record.owner !== owner) throw unknownTask(String(parent));
  if (!cell.acceptsChildren) throw refused('parent_not_running', cell.id);
  return cell.record;
}

function ambient(engine: Engine, owner: string): Cell | undefined {
  const cell = currentBody.getStore()?.cell;
  return cell?.host === engine && cell.record.owner === owner ? cell : undefined;
}
