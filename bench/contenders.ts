import { Deferred, Effect, Fiber } from 'effect';
import PQueue from 'p-queue';
import { createActor } from 'xstate';
import { type Facts, taskMachine } from '../machines/index.ts';
import { createRuntime, defineTask } from '../src/index.ts';
import { closedGate, type Gate } from './harness.ts';

/** Tasks that were all started and wait at one gate. */
interface Live {
  /** Opens the gate; resolves when every task has completed. */
  complete(): Promise<void>;
  /** How many have truly completed; asked outside the timing. */
  countCompleted(): number;
}

/** A contender that is ready to start tasks. */
interface Opened {
  start(count: number): Promise<Live>;
  close(): Promise<void>;
}

/** One way to run many tasks at once. */
export interface Contender {
  readonly name: string;
  /** Makes what is there before the first task, for at most `size` live ones. */
  open(size: number): Promise<Opened>;
}

const OUTPUT = 42;
const nothing = async () => {};

/** What every task does. */
async function body(gate: Gate): Promise<number> {
  await gate.opened;
  return OUTPUT;
}

function countOutputs(outputs: readonly unknown[]): number {
  return outputs.filter((output) => output === OUTPUT).length;
}

export const offstage: Contender = {
  name: 'offstage',
  async open() {
    let gate = closedGate();
    const work = defineTask({ name: 'work', run: () => body(gate) });
    const runtime = await createRuntime({
      tasks: [work],
      limits: { perOwner: Number.POSITIVE_INFINITY, perRuntime: Number.POSITIVE_INFINITY },
    });
    const thread = runtime.supervisor('thread-1');
    return {
      async start(count) {
        gate = closedGate();
        const { open } = gate;
        const spawned = Array.from({ length: count }, () =>
          thread.spawn(work, undefined, { notify: false }),
        );
        const tasks = await Promise.all(spawned);
        let outputs: readonly number[] = [];
        return {
          async complete() {
            open();
            outputs = await Promise.all(tasks.map((task) => task.result()));
          },
          countCompleted: () => countOutputs(outputs),
        };
      },
      close: () => runtime.close(),
    };
  },
};

/** The same machine with the same commands, but nothing is stored, published or fenced. */
export const bareActor: Contender = {
  name: 'bare actor',
  async open() {
    return {
      async start(count) {
        const gate = closedGate();
        const actors = Array.from({ length: count }, () => createActor(taskMachine).start());
        const bodies = actors.map(async (actor) => {
          actor.send({ type: 'START', facts: factsNow() });
          const output = await body(gate);
          const { epoch } = actor.getSnapshot().context;
          actor.send({ type: 'SUCCEED', epoch, output, summary: null, facts: factsNow() });
        });
        return {
          async complete() {
            gate.open();
            await Promise.all(bodies);
          },
          countCompleted: () =>
            actors.filter((actor) => actor.getSnapshot().value === 'completed').length,
        };
      },
      close: nothing,
    };
  },
};

/** What is true around a task of this bench; it is stamped anew into every command. */
function factsNow(): Facts {
  return {
    now: Date.now(),
    executor: false,
    children: 0,
    parentRunning: true,
    foreground: false,
    admitted: true,
    resumable: false,
    graceMs: 5_000,
    restart: null,
    jitter: 0,
  };
}

export const barePromise: Contender = {
  name: 'bare promise',
  async open() {
    return {
      async start(count) {
        const gate = closedGate();
        const bodies = Array.from({ length: count }, () => body(gate));
        return awaited(gate, bodies);
      },
      close: nothing,
    };
  },
};

export const pQueue: Contender = {
  name: 'p-queue',
  async open(size) {
    const queue = new PQueue({ concurrency: size });
    return {
      async start(count) {
        const gate = closedGate();
        const bodies = Array.from({ length: count }, () => queue.add(() => body(gate)));
        if (queue.pending !== count) throw new Error(`${queue.pending} of ${count} tasks started.`);
        return awaited(gate, bodies);
      },
      close: nothing,
    };
  },
};

function awaited(gate: Gate, bodies: readonly Promise<number>[]): Live {
  let outputs: readonly number[] = [];
  return {
    async complete() {
      gate.open();
      outputs = await Promise.all(bodies);
    },
    countCompleted: () => countOutputs(outputs),
  };
}

export const effectFiber: Contender = {
  name: 'effect fiber',
  async open() {
    return {
      async start(count) {
        // Effect's own gate: a promise would make its fibers pay for a bridge they do not need.
        const gate = Deferred.makeUnsafe<void>();
        const work = Effect.as(Deferred.await(gate), OUTPUT);
        const fibers = Array.from({ length: count }, () => Effect.runFork(work));
        return {
          async complete() {
            Deferred.doneUnsafe(gate, Effect.void);
            await Effect.runPromise(Fiber.awaitAll(fibers));
          },
          countCompleted: () =>
            fibers.filter((fiber) => fiber.pollUnsafe()?._tag === 'Success').length,
        };
      },
      close: nothing,
    };
  },
};
