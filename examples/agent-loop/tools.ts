import { setTimeout as pause } from 'node:timers/promises';
import { backgroundCapable, defineTool, taskTools } from 'offstage';
import { z } from 'zod';

/** Takes long, so the model may run it in the background. */
const checkLinks = backgroundCapable(
  defineTool({
    name: 'check_links',
    title: 'Link check',
    description: 'Looks for broken links in a site. It takes long.',
    input: z.object({ site: z.enum(['docs', 'blog']) }),
    async execute({ site }, { signal, progress }) {
      for (let page = 1; page <= 4; page += 1) {
        await pause(20, undefined, { signal });
        progress({ current: page, total: 4, unit: 'pages' });
      }
      return `No broken link in ${site}.`;
    },
  }),
);

const buildIndex = backgroundCapable(
  defineTool({
    name: 'build_index',
    title: 'Search index',
    description: 'Builds the search index. It takes long.',
    async execute(_args, { signal }) {
      await pause(400, undefined, { signal });
      return 'The index has 40 pages.';
    },
  }),
);

/** Its turn waits for it. */
const countWords = defineTool({
  name: 'count_words',
  description: 'Counts the words of a page.',
  input: z.object({ page: z.string() }),
  async execute(_args, { signal }) {
    await pause(600, undefined, { signal });
    return 1_234;
  },
});

/** What the model may call; with the task tools it looks after what it has started. */
export const tools = [checkLinks, buildIndex, countWords, ...taskTools()];
