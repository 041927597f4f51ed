import type { Mutant } from './mutant.ts';

/** What should notice: the model of turns, over restarts and crashes. */
const tests = ['test/turns'];

/** Faults of the loop kit. */
export const loopMutants: readonly Mutant[] = [
  {
    name: 'a call that was started before is not known again',
    file: 'src/tools/call/call-key.ts',
    find: "return `call:${hash.digest('hex')}`;",
    replace: "return `call:${hash.digest('hex')}${Math.random()}`;",
    tests,
  },
  {
    name: 'a call tells its end although it was answered',
    file: 'src/loop/open-call.ts',
    find: '  #answer(update: TurnUpdate): void {\n    if (this.#isAnswered) return;',
    replace: '  #answer(update: TurnUpdate): void {',
    tests,
  },
  {
    name: 'an interrupt answers the calls but cancels nothing',
    file: 'src/loop/open-call.ts',
    find: 'await engineBehind(this.#scope.thread).activation.send(owner, id, command);',
    replace: 'await Promise.resolve([owner, id, command]);',
    tests,
  },
  {
    name: 'an interrupt does not follow a task that another runtime took up meanwhile',
    file: 'src/loop/open-call.ts',
    find: "if (isOffstageError(error, 'fenced'))",
    replace: "if (isOffstageError(error, 'fenced') && id === '')",
    tests: ['test/unit/loop-takeover.test.ts'],
  },
  {
    name: 'a call is over when the runtime that ran it leaves',
    file: 'src/tools/call/execute-call.ts',
    find: 'isToGoOn(record) && ',
    replace: "isToGoOn(record) && record.id === '' && ",
    tests: ['test/unit/loop-takeover.test.ts'],
  },
  {
    name: 'a call is refused because somebody else has its task go on',
    file: 'src/tools/call/existing-call.ts',
    find: "'already_running', 'already_ended', 'fenced'",
    replace: "'already_ended'",
    tests: ['test/unit/loop-takeover.test.ts'],
  },
  {
    name: 'a call that starts while its turn is interrupted goes on',
    file: 'src/loop/task-turn.ts',
    find: "if (this.#isOver) return ready(await open.interrupt('the turn was interrupted'));",
    replace: '',
    tests,
  },
  {
    name: 'an interrupt also reaches a task that was detached before it',
    file: 'src/supervisor/planner.ts',
    find: "command.foregroundOnly === true && mode !== 'foreground'",
    replace: 'command.foregroundOnly === true && mode === undefined',
    tests,
  },
  {
    name: 'nobody is told of the end of a detached task',
    file: 'src/supervisor/advance.ts',
    find: "changes.notify = mode === 'background' && record.parent === null;",
    replace: "changes.notify = mode === 'foreground';",
    tests,
  },
  {
    name: 'every notice wakes the loop anew',
    file: 'src/loop/wake-up.ts',
    find: '      sleeper.isTold = true;\n',
    replace: '',
    tests,
  },
  {
    name: 'the loop is woken while a turn is open',
    file: 'src/loop/wake-up.ts',
    find: 'if (this.#due.size === 0 || this.#isBusy()) return;\n    const request',
    replace: 'if (this.#due.size === 0) return;\n    const request',
    tests,
  },
  {
    name: 'what came while a turn was open wakes nobody afterwards',
    file: 'src/loop/wake-up.ts',
    find: '  turnOver(): void {\n    this.#schedule();',
    replace: '  turnOver(): void {',
    tests,
  },
  {
    name: 'what an earlier process left does not wake the loop',
    file: 'src/loop/wake-up.ts',
    find: '      this.#check().catch(engine.reportObserver);\n',
    replace: '',
    tests,
  },
  {
    name: 'a runtime that is closed keeps the notices it had taken',
    file: 'src/store/memory.ts',
    find: '    this.#notices.release(holder);\n',
    replace: '',
    tests,
  },
  {
    name: 'what a foreground task asks goes to the loop as well',
    file: 'src/task/notice.ts',
    find: "return record.mode === 'foreground' ? NONE : [asked(event.request, record)];",
    replace: 'return [asked(event.request, record)];',
    tests,
  },
];
