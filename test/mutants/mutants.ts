/** One deliberate fault: the mechanism of a promise, removed. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** What should notice. Default: the model. */
  readonly tests?: readonly string[];
}

const MODEL = 'test/property';

export const mutants: readonly Mutant[] = [
  {
    name: 'the store takes a write of any epoch',
    file: 'src/store/memory.ts',
    find: 'if (!isSame || stored.epoch !== write.expect.epoch || stored.seq !== write.expect.seq) {',
    replace: 'if (stored.status === undefined) {',
  },
  {
    name: 'the store does not recognise a write it has stored',
    file: 'src/store/memory.ts',
    find: 'if (isSame && stored.epoch === record.epoch && stored.seq === record.seq) return',
    replace: 'if (isSame && stored.epoch < 0) return',
  },
  {
    name: 'a dedupe key is not looked up',
    file: 'src/store/memory-index.ts',
    find: 'return record.key === null ? undefined : this.#keys.get(keyOf(record));',
    replace: 'return undefined;',
    tests: ['test/conformance/memory.test.ts'],
  },
  {
    name: 'a live name is not looked up',
    file: 'src/store/memory-index.ts',
    find: 'return record.name === null ? undefined : this.#names.get(nameOf(record));',
    replace: 'return undefined;',
  },
  {
    name: 'a foreign owner can read a task',
    file: 'src/store/memory.ts',
    find: 'return entry?.record.owner === owner ? entry : undefined;',
    replace: 'return owner === undefined ? undefined : entry;',
  },
  {
    name: 'a cancel is not passed on to children',
    file: 'src/runtime/kin.ts',
    find: 'for (const child of this.links.of(cell.id)) {',
    replace: 'for (const child of this.links.of(`no ${cell.id}`)) {',
    tests: ['test/unit/trees.test.ts'],
  },
  {
    name: 'a parent learns of its child only by an edge',
    file: 'src/runtime/kin.ts',
    find: 'this.#engine.cells.get(parent)?.poke();',
    replace: 'void this.#engine.cells.get(parent);',
  },
  {
    name: 'a child counts only once it is stored',
    file: 'src/runtime/kin.ts',
    find: "if (record.parent === null || record.status !== 'running') return;",
    replace: "if (record.parent === null || record.status !== 'running' || !cell.isStored) return;",
  },
  {
    name: 'a parent that is decided to end still takes children',
    file: 'src/supervisor/cell.ts',
    find: 'return isThere && hasRoom(this.snapshot) && hasRoom(decided);',
    replace: 'return isThere && hasRoom(this.snapshot) && decided !== undefined;',
  },
  {
    name: 'a child is given to a parent whose resume is not stored',
    file: 'src/supervisor/cell.ts',
    find: 'return isThere && hasRoom(this.snapshot) && hasRoom(decided);',
    replace: 'return isThere && hasRoom(decided);',
    tests: ['test/unit/write-path.test.ts'],
  },
  {
    name: 'a resume does not wait for the abandoned body',
    file: 'machines/task.ts',
    find: 'event.facts.resumable && !event.facts.executor && event.facts.parentRunning,',
    replace: 'event.facts.resumable && event.facts.parentRunning,',
    tests: [MODEL, 'test/unit/grace.test.ts'],
  },
  {
    name: 'a retry does not wait for the body that timed out',
    file: 'machines/task.ts',
    find: 'bodyLeft: ({ event }) => !event.facts.executor,',
    replace: 'bodyLeft: ({ event }) => event.facts.now > 0,',
    tests: ['test/unit/machines.test.ts'],
  },
  {
    name: 'an abandoned body is forgotten',
    file: 'src/runtime/engine.ts',
    find: 'if (cell.executor !== null) this.#strays.set(cell.id, cell.executor);',
    replace: 'if (cell.executor !== null) cell.executor = null;',
    tests: ['test/unit/grace.test.ts'],
  },
  {
    name: 'a success while cancelling completes the task',
    file: 'machines/task.ts',
    find: "JOIN: { guard: 'released', target: '#task.cancelled' },",
    replace:
      "JOIN: { guard: 'released', target: '#task.cancelled' }, SUCCEED: { target: '#task.completed', actions: 'decideOutcome' },",
  },
  {
    name: 'a body may be started and cancelled in one write',
    file: 'src/supervisor/draft.ts',
    find: "step.effects.includes('startExecutor');",
    replace: 'step.effects.length < 0;',
    tests: ['test/unit/write-path.test.ts'],
  },
  {
    name: 'the notice is not in the write of the end',
    file: 'src/supervisor/draft.ts',
    find: 'if (notice) notices = [...notices, notice];',
    replace: 'if (notice?.key === null) notices = [...notices, notice];',
  },
  {
    name: 'an event is published before it is stored',
    file: 'src/supervisor/cell.ts',
    find: 'this.host.deciding(this, write.record);',
    replace:
      'for (const event of write.events) this.host.publish(event, write.record);\n    this.host.deciding(this, write.record);',
  },
  {
    name: 'the answer to an old write is taken for that of a new one',
    file: 'src/supervisor/cell.ts',
    find: 'return this.#plan?.write === write ? this.#plan : null;',
    replace: 'return write.id === this.id ? this.#plan : null;',
    tests: ['test/unit/write-path.test.ts'],
  },
  {
    name: 'a cancel aborts only once it is stored',
    file: 'src/supervisor/cell.ts',
    find: "if (command.type !== 'CANCEL' && command.type !== 'STOP') return;",
    replace: "if (command.type !== 'STOP') return;",
    tests: ['test/unit/cancel.test.ts'],
  },
  {
    name: 'a word of an older epoch is listened to',
    file: 'src/supervisor/planner.ts',
    find: "if ('epoch' in command && command.epoch !== draft.record.epoch) return",
    replace: "if ('epoch' in command && command.epoch < 0) return",
    tests: ['test/unit/machines-write-path.test.ts'],
  },
  {
    name: 'whoever waits for a result is not released',
    file: 'src/supervisor/cell.ts',
    find: 'for (const end of ends) end(error);',
    replace: 'for (const end of ends) if (error) end(error);',
  },
  {
    name: 'a later cancel extends the grace',
    file: 'machines/task-rules.ts',
    find: 'return context.graceAt ?? command.facts.now + command.facts.graceMs;',
    replace: 'return command.facts.now + command.facts.graceMs;',
    tests: ['test/unit/grace.test.ts'],
  },
  {
    name: 'nobody looks when the grace is over',
    file: 'src/supervisor/due.ts',
    find: '    graceAt(record, hasExecutor),\n',
    replace: '',
    tests: ['test/unit/grace.test.ts'],
  },
  {
    name: 'time spent waiting for an answer counts as work',
    file: 'src/supervisor/due.ts',
    find: 'return record.startedAt + record.waitedMs + timeoutMs;',
    replace: 'return record.startedAt + timeoutMs;',
    tests: ['test/unit/time-limits.test.ts'],
  },
  {
    name: 'a place is not given back',
    file: 'src/runtime/engine.ts',
    find: 'this.admission.leave(cell);',
    replace: '',
  },
  {
    name: 'the first owner in the queue always goes first',
    file: 'src/runtime/admission.ts',
    find: '    this.#owners.delete(owner);\n    if (places.held > 0',
    replace: '    if (places.held > 0',
    tests: ['test/unit/queue.test.ts'],
  },
  {
    name: 'a failed batch is not tried again',
    file: 'src/runtime/journal.ts',
    find: '(await this.#commit(writes)) ?? (await this.#commit(writes))',
    replace: "(await this.#commit(writes)) ?? writes.map(() => ({ kind: 'ok' }) as const)",
  },
  {
    name: 'a subscriber that throws is not contained',
    file: 'src/streams/contained.ts',
    find: '        } catch (thrown) {\n          report(thrown);\n        }\n      },\n      error(',
    replace: '        } finally {\n          // let it through\n        }\n      },\n      error(',
  },
  {
    name: 'a task that the store failed is never taken up again',
    file: 'src/runtime/kin.ts',
    find: 'if (stored.holder === holder || !(await store.isAlive(stored.holder))) {',
    replace: 'if (!(await store.isAlive(stored.holder))) {',
    tests: ['test/unit/store-failures.test.ts'],
  },
  {
    name: 'replay begins one event late',
    file: 'src/store/event-log.ts',
    find: 'const begin = Math.max(0, since + 1 - first);',
    replace: 'const begin = Math.max(0, since + 2 - first);',
    tests: ['test/conformance/memory.test.ts'],
  },
];
