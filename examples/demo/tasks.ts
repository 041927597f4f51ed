import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defineTask } from 'offstage';
import { shellTask, workerTask } from 'offstage/executors';
import { z } from 'zod';

/** A real process. What it prints becomes the output of the task. If it is cut off, it begins anew. */
export const checksums = shellTask({
  name: 'checksums',
  title: 'Checksums',
  description: 'Takes the checksums of all files of the release.',
  resumable: true,
  command: () => ({
    file: 'for file in "$@"; do cksum "$file" || exit 1; sleep 0.7; done',
    args: ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'tsconfig.json'],
    shell: true,
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  }),
});

/** A real thread. Its body is in count-primes.ts, and goes on from its last checkpoint. */
export const countPrimes = workerTask({
  name: 'count-primes',
  title: 'Benchmark',
  description: 'Counts primes.',
  resumable: true,
  module: new URL('./count-primes.ts', import.meta.url),
  input: z.object({ below: z.number().default(2_000_000) }),
});

/** What goes on by itself after a crash: it only reads, so nothing is harmed if it reads twice. */
const READS = { resumable: true, idempotent: true, recovery: 'resume' } as const;

export const readSite = defineTask({
  name: 'read-site',
  input: z.object({ pages: z.number() }),
  ...READS,
  async run({ input, signal, resumedFrom, progress, checkpoint }) {
    for (let page = Number(resumedFrom ?? 0) + 1; page <= input.pages; page += 1) {
      await pause(200, undefined, { signal });
      await checkpoint(page);
      progress({ current: page, total: input.pages, unit: 'pages' });
    }
  },
});

/** Three shells in the background of a fourth one: a cancel must end them all. */
export const askMirrors = shellTask({
  name: 'ask-mirrors',
  ...READS,
  command: () => `
    for mirror in east west north; do
      (page=0; while [ $page -lt 60 ]; do
        page=$((page + 1)); echo "$mirror: page $page is there"; sleep 1
      done) &
    done
    wait`,
});
