import { createRuntime, defineTask, type Store } from '../src/index.ts';
import { OUTPUT, type Runner } from './closed-loop.ts';

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Runs tasks in a runtime on the given store; what ends is kept and forgotten as by default. */
export async function offstageRunner(name: string, store: Store): Promise<Runner> {
  const work = defineTask({ name: 'work', run: async () => OUTPUT });
  const runtime = await createRuntime({
    tasks: [work],
    store,
    limits: { perOwner: NO_LIMIT, perRuntime: NO_LIMIT },
  });
  const thread = runtime.supervisor('thread-1');
  return {
    name,
    async run() {
      const task = await thread.spawn(work, undefined, { notify: false });
      return task.result();
    },
    async close() {
      await runtime.close();
      await store.close();
    },
  };
}
