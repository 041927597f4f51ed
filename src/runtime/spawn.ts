import { Cell } from '../supervisor/cell.ts';
import { currentBody } from '../supervisor/current.ts';
import { initialSnapshot } from '../supervisor/decide.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { isOffstageError, OffstageError, refused, unknownTask } from '../task/errors.ts';
import type { TaskHandle } from '../task/handle.ts';
import { checkId, newId, quote } from '../task/ids.ts';
import { sameJson, toJson } from '../task/json.ts';
import type { TaskRecord } from '../task/record.ts';
import { parse } from '../task/schema.ts';
import type { SpawnOptions } from '../task/spawn-options.ts';
import type { Engine } from './engine.ts';
import { StoredTask } from './stored-task.ts';

/** What a spawn takes, with the scope of its dedupe key if that is not the owner. */
export interface ScopedSpawnOptions extends SpawnOptions {
  readonly keyScope?: string;
}

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
    engine.registry.check(definition);
    const parsed = parse(definition.inputSchema, input, 'invalid_input', 'The input');
    if (parsed instanceof Promise) {
      return parsed.then(() => create(engine, owner, definition, input, options));
    }
    return create(engine, owner, definition, input, options);
  } catch (error) {
    return Promise.reject(error);
  }
}

function create<Input, Output>(
  engine: Engine,
  owner: string,
  definition: TaskDefinition<Input, Output>,
  input: Input | undefined,
  options: ScopedSpawnOptions,
): Promise<TaskHandle<Output, Input>> {
  const record = recordOf(engine, owner, definition, input, options);
  const cell = new Cell(engine, definition, record, initialSnapshot);
  if (record.parent !== null) engine.kin.trees.check(record);
  engine.admission.enter(cell);
  engine.enter(cell);
  return new Promise((resolve, reject) => {
    cell.create(cell.permit !== 'waiting', (error) => {
      if (error === null) resolve(new StoredTask<Output, Input>(engine, cell));
      else if (isOffstageError(error, 'key_conflict')) {
        resolve(existing(engine, record, error.details.taskId));
      } else reject(error);
    });
  });
}

/** The task that has the key already, if it is the same work. */
async function existing<Output, Input>(
  engine: Engine,
  wanted: TaskRecord,
  id: string,
): Promise<TaskHandle<Output, Input>> {
  const found = await engine.store.load(wanted.owner, id);
  if (found === null) throw unknownTask(id);
  if (found.definition === wanted.definition && sameJson(found.input, wanted.input)) {
    return engine.handleOf<Output, Input>(found);
  }
  throw new OffstageError(
    'key_conflict',
    `The key ${quote(wanted.key)} belongs to task ${id} with another definition or input; use another key.`,
    { taskId: id, key: wanted.key ?? '' },
  );
}

function recordOf(
  engine: Engine,
  owner: string,
  definition: TaskDefinition,
  input: unknown,
  options: ScopedSpawnOptions,
): TaskRecord {
  const parent = parentOf(engine, owner, options);
  const now = engine.clock.now();
  const mode = options.mode ?? 'background';
  return {
    ...initialSnapshot.context,
    id: idOf(engine, options.id),
    owner,
    definition: definition.name,
    kind: definition.kind,
    key: keyOf(options),
    name: nameOf(options.name),
    title: options.title ?? definition.title,
    description: options.description ?? definition.description,
    parent: parent?.id ?? null,
    link: options.link ?? 'linked',
    lineage: parent ? [...parent.lineage, { owner: parent.owner, id: parent.id }] : NO_LINEAGE,
    mode,
    wake: options.wake ?? 'onTerminal',
    signal: options.signal ?? (mode === 'background' && parent === null),
    metadata: toJson('`metadata`', options.metadata, engine.limits.event),
    createdAt: now,
    input: toJson('The input', input, engine.limits.input),
    status: 'running',
    phase: 'queued',
    statusText: null,
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
const NO_STEPS: TaskRecord['steps'] = {};
const NO_MESSAGES: TaskRecord['inbox'] = [];

function idOf(engine: Engine, id: string | undefined): string {
  if (id === undefined) return newId();
  checkId('`id`', id);
  if (!engine.cells.has(id)) return id;
  throw new OffstageError('id_taken', `There is a live task ${id} already.`, { taskId: id });
}

function keyOf({ key, keyScope }: ScopedSpawnOptions): string | null {
  if (key === undefined) return null;
  checkId('`key`', key);
  // A slash cannot stand in an id, so a scoped key never meets an owner's own.
  return keyScope === undefined ? key : `${keyScope}/${key}`;
}

function nameOf(name: string | undefined): string | null {
  if (name === undefined) return null;
  checkId('`name`', name);
  if (!RESERVED.has(name)) return name;
  throw new OffstageError(
    'invalid_option',
    `\`name\` must not be ${quote(name)}: self, parent and child are reserved words.`,
    { option: 'name', value: name },
  );
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
