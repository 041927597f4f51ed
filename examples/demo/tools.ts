import { setTimeout as pause } from 'node:timers/promises';
import { backgroundCapable, defineTool, success, type Tool, taskAsTool, taskTools } from 'offstage';
import { z } from 'zod';
import { askMirrors, checksums, countPrimes, readSite } from './tasks.ts';

/** After a crash these go on unasked, since they change nothing. */
const hints = { readonly: true };

/** A call is a task, so any task can be called: here a process, below a thread. */
const takeChecksums = taskAsTool(checksums, { name: 'take_checksums', hints });
const runBenchmark = taskAsTool(countPrimes, { name: 'run_benchmark', hints });

/** A tree: the call, and three tasks that end with it. By their keys a later attempt finds them again. */
const checkLinks = defineTool({
  name: 'check_links',
  title: 'Link check',
  description: 'Looks for broken links in all sites.',
  resumable: true,
  hints,
  async execute(_args, { spawn, progress }) {
    const children = [
      await spawn(readSite, { pages: 60 }, named('guide', 'guide site')),
      await spawn(readSite, { pages: 80 }, named('reference', 'reference site')),
      await spawn(askMirrors, undefined, named('mirrors', 'mirrors')),
    ];
    for (const [checked, child] of children.entries()) {
      progress({ current: checked, total: children.length, unit: 'sites' });
      await child.result();
    }
  },
});

function named(name: string, title: string) {
  return { key: name, name, title };
}

/** Stores a checkpoint after every page, so that a later attempt goes on where this one left. */
const buildIndex = defineTool({
  name: 'build_index',
  title: 'Search index',
  description: 'Builds the search index.',
  hints: { idempotent: true },
  input: z.object({ pages: z.number() }),
  resumable: true,
  async execute({ pages }, { signal, resumedFrom, progress, checkpoint }) {
    const done = z.number().nullable().parse(resumedFrom) ?? 0;
    for (let page = done + 1; page <= pages; page += 1) {
      await pause(200, undefined, { signal });
      await checkpoint(page);
      progress({ current: page, total: pages, unit: 'pages' });
    }
    const since = done === 0 ? '' : `, resumed from page ${done}`;
    return success({ pages }, { summary: `${pages} pages${since}` });
  },
});

/**
 * Runs only once a person has said yes, and once it was cut off not without being asked to. Nothing
 * leaves this machine: the upload is a pause.
 */
const publish = defineTool({
  name: 'publish',
  title: 'Publish',
  description: 'Publishes a version.',
  input: z.object({ version: z.string(), channel: z.enum(['stable', 'next']) }),
  policy: 'approval',
  resumable: true,
  async execute({ version, channel }, { signal, status, progress }) {
    status(`uploading to ${channel}`);
    for (let part = 1; part <= 10; part += 1) {
      await pause(300, undefined, { signal });
      progress({ current: part, total: 10, unit: 'parts' });
    }
    return success({ channel }, { summary: `${version} is on the channel ${channel}` });
  },
});

const longWork: readonly Tool[] = [takeChecksums, runBenchmark, checkLinks, buildIndex];

/** What the model may call; with the task tools it looks after what it has started. */
export const tools = [
  ...longWork.map((tool) => backgroundCapable(tool)),
  backgroundCapable(publish, { recovery: 'ask' }),
  ...taskTools(),
];
