import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { OUTPUT, type Runner } from './closed-loop.ts';
import { type Fsync, startRedis } from './redis-server.ts';

const QUEUE = 'work';

/** As many as the runtimes keep. */
const KEPT = { count: 10_000 };

/** As many at once as are live. Of several ways to divide them, this was the fastest. */
const WORKERS = 10;
const CONCURRENCY = 100;

/**
 * Runs jobs with BullMQ, as fast as it can in one process: jobs of one turn of the event loop are
 * added in bulk, and who added a job hears of its end from the worker.
 */
export async function bullmqRunner(appendfsync: Fsync): Promise<Runner> {
  const server = await startRedis(appendfsync);
  const connections: Redis[] = [];
  const connect = () => {
    const connection = new Redis(server.socket, { maxRetriesPerRequest: null });
    connections.push(connection);
    return connection;
  };
  const waiting = new Map<string, (output: unknown) => void>();
  const queue = new Queue(QUEUE, {
    connection: connect(),
    defaultJobOptions: { removeOnComplete: KEPT, removeOnFail: KEPT },
  });
  const workers = Array.from({ length: WORKERS }, () => {
    const worker = new Worker(QUEUE, async () => OUTPUT, {
      connection: connect(),
      concurrency: CONCURRENCY,
    });
    return worker.on('completed', ({ id = '', returnvalue }) => {
      waiting.get(id)?.(returnvalue);
      waiting.delete(id);
    });
  });
  await Promise.all([queue, ...workers].map((each) => each.waitUntilReady()));
  const add = inBulk(queue);
  let last = 0;
  return {
    name: `BullMQ, appendfsync ${appendfsync}`,
    run() {
      last += 1;
      const id = `job-${last}`;
      add(id);
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      await queue.close();
      for (const connection of connections) connection.disconnect();
      await server.close();
    },
  };
}

/** Adds what is asked for in one turn of the event loop with one call. */
function inBulk(queue: Queue): (jobId: string) => void {
  let ids: string[] = [];
  const flush = () => {
    const jobs = ids.map((jobId) => ({ name: QUEUE, data: null, opts: { jobId } }));
    ids = [];
    void queue.addBulk(jobs);
  };
  return (jobId) => {
    if (ids.length === 0) setImmediate(flush);
    ids.push(jobId);
  };
}
