import { factsIn, NOW, recordIn } from '../../docs/generate/records.ts';
import { type Situation, situationsOf } from '../../docs/generate/situations.ts';
import type { TaskLeaf } from '../../machines/index.ts';
import { Engine } from '../../src/runtime/engine.ts';
import { memoryStore } from '../../src/store/memory.ts';
import { Cell } from '../../src/supervisor/cell.ts';
import { Executor } from '../../src/supervisor/executor.ts';
import { defineTask, type TaskDefinition } from '../../src/task/definition.ts';
import type { TaskRecord } from '../../src/task/record.ts';
import { virtualClock } from '../../src/testing/virtual-clock.ts';
import type { Staged } from './cells-checks.ts';
import { ruleFor, type TaskCell } from './task-cells-terms.ts';

/** One situation for each rule of a cell and each combination of what can hold a task. */
export function scenesOf(leaf: TaskLeaf, cell: TaskCell): readonly Situation[] {
  const scenes = new Map<unknown, Map<string, Situation>>();
  for (const situation of situationsOf(leaf)) {
    const { expected } = ruleFor(cell, situation);
    const { executor, children, abandoned } = situation;
    const ofRule = scenes.get(expected) ?? new Map<string, Situation>();
    scenes.set(expected, ofRule);
    const hold = `${executor} ${children} ${abandoned}`;
    if (!ofRule.has(hold)) ofRule.set(hold, situation);
  }
  return [...scenes.values()].flatMap((ofRule) => [...ofRule.values()]);
}

/** Puts a task in this leaf and situation into a store, and an engine in charge of it. */
export async function stage(leaf: TaskLeaf, situation: Situation): Promise<Staged> {
  const clock = virtualClock(NOW);
  const store = memoryStore({ clock });
  const definition = definitionIn(situation);
  const engine = new Engine({ clock, store, tasks: [definition], onError: rethrow });
  await engine.open();

  const cell = await enter(engine, definition, {
    ...recordIn(leaf, situation),
    ...(situation.parentRunning ? {} : { parent: 'gone' }),
  });
  if (situation.executor) cell.executor = new Executor(cell);
  if (!situation.admitted) cell.permit = 'waiting';
  const child = situation.children > 0 ? await enterChild(engine, definition, cell) : null;
  const send: Staged['send'] = (command) => cell.enqueue(command);
  return { engine, cell, child, situation, requestId: 'asked', send };
}

/** Its body never leaves by itself, so whatever ends it is the command under test. */
function definitionIn(situation: Situation): TaskDefinition {
  const { resumable, restart, graceMs } = factsIn(situation);
  return defineTask({
    name: 'work',
    resumable,
    restart: restart ?? 'temporary',
    graceMs,
    run: () => new Promise<never>(() => {}),
  });
}

async function enter(engine: Engine, definition: TaskDefinition, crafted: TaskRecord) {
  const record = { ...crafted, holder: engine.holder };
  const { id, owner, title, name, parent, attempt, createdAt } = record;
  const header = { task: id, owner, seq: 1, attempt, at: createdAt };
  const created = { type: 'created', definition: definition.name, title, name, parent } as const;
  const write = { id, owner, expect: null, record, notices: [], consumed: [] };
  await engine.store.commit([{ ...write, events: [{ ...header, ...created }] }]);
  const cell = new Cell(engine, definition, record);
  engine.enter(cell);
  return cell;
}

async function enterChild(engine: Engine, definition: TaskDefinition, parent: Cell) {
  const { owner, id } = parent.record;
  const child = await enter(engine, definition, {
    ...recordIn('working', { ...ORDINARY, executor: true }),
    id: 'child-1',
    parent: id,
    lineage: [{ owner, id }],
  });
  child.executor = new Executor(child);
  engine.links.add(id, child);
  return child;
}

const [ORDINARY] = situationsOf('working') as readonly [Situation, ...Situation[]];

function rethrow(error: unknown): never {
  throw error;
}
