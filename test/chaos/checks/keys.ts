import { factsOf } from '../journal.ts';
import type { Check } from './evidence.ts';

/** A dedupe key has one task, whoever asks for it and however often. */
export const checkKeys: Check = ({ lives, entries }) => {
  const violations: string[] = [];
  const stored = new Map<string, string>();
  for (const { record } of lives.values()) {
    if (record.key === null) continue;
    const key = `${record.owner} ${record.key}`;
    if (stored.has(key)) violations.push(`the key ${key} has two tasks`);
    stored.set(key, record.id);
  }
  for (const { owner, key, task } of factsOf(entries, 'spawned')) {
    if (key === null || stored.get(`${owner} ${key}`) === task) continue;
    violations.push(`${owner} was given ${task} for the key ${key}`);
  }
  return violations;
};
