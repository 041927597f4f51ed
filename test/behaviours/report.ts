import { z } from 'zod';

/** One test of a run, under its own title, without those of its describe blocks. */
export interface RunTest {
  readonly title: string;
  readonly status: string;
}

/** What is read here of vitest's JSON report. */
const Report = z.object({
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ title: z.string(), status: z.string() })) }),
  ),
});

/** All tests in a report of vitest's JSON reporter. */
export function readReport(json: string): readonly RunTest[] {
  return Report.parse(JSON.parse(json)).testResults.flatMap((file) => file.assertionResults);
}
