import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** When Redis waits for the disk: before it answers, or once a second. */
export type Fsync = 'always' | 'everysec';

/** A Redis that belongs to the bench alone. */
export interface RedisServer {
  readonly socket: string;
  close(): Promise<void>;
}

/** `null` where it is not installed. */
export function redisVersion(): string | null {
  try {
    const text = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
    return /v=(\S+)/.exec(text)?.[1] ?? 'of unknown version';
  } catch {
    return null;
  }
}

/** Starts one on a socket in a directory of its own; all of it goes with `close()`. */
export async function startRedis(appendfsync: Fsync): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'offstage-redis-'));
  const socket = join(directory, 'redis.sock');
  const options = { port: 0, unixsocket: socket, dir: directory, save: '', appendonly: 'yes' };
  const settings = Object.entries({ ...options, appendfsync, 'maxmemory-policy': 'noeviction' });
  const server = spawn(
    'redis-server',
    settings.flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(server, 'exit');
  const end = () => server.kill('SIGKILL');
  process.once('exit', end);
  await Promise.race([ready(server.stdout), exited.then(() => Promise.reject(noStart(directory)))]);
  return {
    socket,
    async close() {
      process.off('exit', end);
      server.kill();
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function ready(log: NodeJS.ReadableStream): Promise<void> {
  for await (const line of createInterface(log)) {
    if (/ready to accept connections/i.test(line)) break;
  }
  log.resume();
}

function noStart(directory: string): Error {
  return new Error(`redis-server did not start in ${directory}.`);
}
