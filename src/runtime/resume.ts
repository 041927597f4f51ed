import type { Draft } from 'immer';
import type { Json, Mode, ResumeInput } from '../../machines/index.ts';
import type { Cell } from '../supervisor/cell.ts';
import { editJson } from '../task/edit-json.ts';
import { refused } from '../task/errors.ts';
import { copyJson, sameJson, toJson } from '../task/json.ts';
import { parse } from '../task/schema.ts';
import type { Engine } from './engine.ts';
import { isBeingStopped, untilLeft } from './orphan.ts';
import { stopOf } from './verdict.ts';

/** How a stopped task goes on. */
export interface ResumeRequest {
  /** Changes the draft of the input, or gives a new one back. */
  readonly recipe?: (draft: Draft<Json> | undefined) => unknown;
  readonly reason: string | null;
  /** `null` keeps the mode that the task had. */
  readonly mode: Mode | null;
  /** What happens where the limits are full. Default: as they say. */
  readonly whenFull?: 'queue';
}

/** Starts a new attempt of a stopped task, and gives its cell. Whatever is refused leaves it stopped as it was. */
export async function resume(
  engine: Engine,
  owner: string,
  id: string,
  request: ResumeRequest,
): Promise<Cell> {
  engine.throwIfClosing();
  const place = await engine.activation.find(owner, id, stopOf);
  if (place.kind === 'ended') throw refused('already_ended', id);
  if (place.kind === 'elsewhere') throw refused('already_running', id);
  const { cell } = place;
  try {
    if (cell.definition.beforeResume && isBeingStopped(cell)) {
      await untilLeft(cell);
      return await resume(engine, owner, id, request);
    }
    // Where there is nothing to prepare, in the same turn: what comes later stays behind it.
    const ready = isPlain(cell, request) ? UNCHANGED : await prepare(engine, cell, request);
    // Another resume or cancel was refused meanwhile and the task left again: take it up anew.
    if (!cell.isLive) return await resume(engine, owner, id, request);
    engine.throwIfClosing();
    const { whenFull } = request;
    const mode = request.mode ?? cell.record.mode;
    engine.admission.enter(cell, whenFull ? { mode, whenFull } : { mode });
    cell.prepared = ready.prepared;
    const { reason } = request;
    await cell.enqueue({ type: 'RESUME', reason, input: ready.input, mode: request.mode });
    return cell;
  } catch (error) {
    // A live cell gives its place back when it leaves; another resume of it may be on its way.
    if (!cell.isLive) engine.admission.leave(cell);
    // It was brought back for nothing: let it leave again.
    cell.poke();
    throw error;
  }
}

interface Ready {
  readonly input: ResumeInput | null;
  readonly prepared: unknown;
}

const UNCHANGED: Ready = { input: null, prepared: undefined };

function isPlain({ definition }: Cell, { recipe }: ResumeRequest): boolean {
  return recipe === undefined && definition.beforeResume === undefined;
}

async function prepare(
  engine: Engine,
  cell: Cell,
  { recipe, mode }: ResumeRequest,
): Promise<Ready> {
  const { record, definition } = cell;
  const edited = recipe ? await edit(engine, cell, recipe) : null;
  const given = edited ? edited.value : record.input;
  const ready = await definition.beforeResume?.({
    record,
    input: copyJson(given),
    mode: mode ?? record.mode,
  });
  if (ready === undefined) return { input: edited, prepared: undefined };
  const { prepared } = ready;
  if (sameJson(ready.input, given)) return { input: edited, prepared };
  return { input: await edit(engine, cell, () => ready.input), prepared };
}

async function edit(
  engine: Engine,
  { record, definition }: Cell,
  recipe: NonNullable<ResumeRequest['recipe']>,
): Promise<ResumeInput> {
  const { value: edited, patches } = editJson('recipe', record.input, (draft) =>
    recipe(draft as Draft<Json> | undefined),
  );
  const { input, event } = engine.limits;
  const value = edited === undefined ? edited : toJson('The edited input', edited, input);
  await parse(definition.inputSchema, copyJson(value), 'invalid_input', 'The input');
  return { value, patches: toJson('The edit of the input', patches, event) };
}
