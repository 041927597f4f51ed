import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defineTask } from 'offstage';
import { shellTask, workerTask } from 'offstage/executors';
import { z } from 'zod';

const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** A real process. What it prints becomes the output of the task. */
export const checksum = shellTask({
  name: 'checksum',
  title: 'Checksums',
  input: z.object({ files: z.array(z.string()) }),
  command: ({ files }) => ({
    file: 'for file in "$@"; do cksum "$file" || exit 1; sleep 0.7; done',
    args: files,
    shell: true,
    cwd: projectFolder,
  }),
});

/** A real thread. Its body is in count-primes.ts. */
export const benchmark = workerTask({
  name: 'benchmark',
  title: 'Benchmark',
  module: new URL('./count-primes.ts', import.meta.url),
  input: z.object({ below: z.number() }),
  output: z.object({ primes: z.number() }),
});

const readSite = defineTask({
  name: 'read-site',
  input: z.object({ pages: z.number() }),
  async run({ input, signal, progress }) {
    for (let page = 1; page <= input.pages; page += 1) {
      await pause(200, undefined, { signal });
      progress({ current: page, total: input.pages, unit: 'pages' });
    }
  },
});

/** Three shells in the background of a fourth one: a cancel must end them all. */
const askMirrors = shellTask({
  name: 'ask-mirrors',
  command: () => `
    for mirror in east west north; do
      (page=0; while [ $page -lt 60 ]; do
        page=$((page + 1)); echo "$mirror: page $page is there"; sleep 1
      done) &
    done
    wait`,
});

/** A tree: the task, and three children that end with it. */
export const checkLinks = defineTask({
  name: 'check-links',
  title: 'Link check',
  async run({ spawn, progress }) {
    const children = [
      await spawn(readSite, { pages: 60 }, { name: 'guide', title: 'guide site' }),
      await spawn(readSite, { pages: 80 }, { name: 'reference', title: 'reference site' }),
      await spawn(askMirrors, undefined, { name: 'mirrors', title: 'mirrors' }),
    ];
    let checked = 0;
    const report = () => progress({ current: checked, total: children.length, unit: 'sites' });
    report();
    await Promise.all(
      children.map(async (child) => {
        await child.result();
        checked += 1;
        report();
      }),
    );
  },
});

/** Stores a checkpoint after every page, so that a later attempt goes on where this one left. */
export const indexDocs = defineTask({
  name: 'index-docs',
  title: 'Search index',
  input: z.object({ pages: z.number() }),
  resumable: true,
  async run({ input, signal, resumedFrom, progress, checkpoint, summary }) {
    const done = z.number().nullable().parse(resumedFrom) ?? 0;
    for (let page = done + 1; page <= input.pages; page += 1) {
      await pause(200, undefined, { signal });
      await checkpoint(page);
      progress({ current: page, total: input.pages, unit: 'pages' });
    }
    summary(`${input.pages} pages${done === 0 ? '' : `, resumed from page ${done}`}`);
  },
});

/** Asks its owner and waits. Nothing leaves this machine: the upload is a pause. */
export const publish = defineTask({
  name: 'publish',
  title: 'Publish',
  input: z.object({ version: z.string() }),
  async run({ input, signal, status, progress, requestInput, summary }) {
    status('signing');
    await pause(800, undefined, { signal });
    const channel = await requestInput({
      prompt: `Which channel shall ${input.version} go to?`,
      data: ['stable', 'next'],
      schema: z.enum(['stable', 'next']),
    });
    status(`uploading to ${channel}`);
    for (let part = 1; part <= 10; part += 1) {
      await pause(300, undefined, { signal });
      progress({ current: part, total: 10, unit: 'parts' });
    }
    summary(`${input.version} is on the channel ${channel}`);
    return { channel };
  },
});

/** All that the runtime of the demo can run. */
export const tasks = [checksum, benchmark, checkLinks, readSite, askMirrors, indexDocs, publish];
