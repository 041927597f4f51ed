import { OffstageError } from '../../task/errors.ts';
import type { TaskRecord } from '../../task/record.ts';

/** The record that a row holds. Throws `corrupt_record` if its text is damaged. */
export function recordOf(id: string, body: string): TaskRecord {
  const record = readRecord(id, body);
  if (record !== null) return record;
  const message = 'is no record of it';
  throw new OffstageError(
    'corrupt_record',
    `What is stored of task ${id} is damaged: a row ${message}; mend or remove it in the file.`,
    { taskId: id, issues: [{ path: 'body', message }] },
  );
}

/** The same, with `null` for what is damaged. */
export function readRecord(id: string, body: string): TaskRecord | null {
  try {
    const record: unknown = JSON.parse(body);
    if (typeof record !== 'object' || record === null) return null;
    if (!('id' in record) || record.id !== id) return null;
    // JSON has no word for an input that was not given.
    return ('input' in record ? record : { ...record, input: undefined }) as TaskRecord;
  } catch {
    return null;
  }
}

/** What a row of another table says about a task, `null` if it is damaged. */
export function readPart<Part extends object>(body: string): Part | null {
  try {
    const part: unknown = JSON.parse(body);
    return typeof part === 'object' ? (part as Part | null) : null;
  } catch {
    return null;
  }
}

/** The text that such a row holds, `null` if it is damaged. */
export function readText(body: string, length: number): string | null {
  try {
    const text: unknown = JSON.parse(body);
    return typeof text === 'string' && text.length === length ? text : null;
  } catch {
    return null;
  }
}
