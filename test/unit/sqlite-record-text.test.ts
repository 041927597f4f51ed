import fc from 'fast-check';
import { sampleRecord } from 'offstage/testing';
import { expect, test } from 'vitest';
import type { Json, TaskRecord } from '../../src/index.ts';
import { readRecord, recordTextOf } from '../../src/store/sqlite/record-text.ts';

const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
/** What is usual for one field is not for another. */
const value = fc.oneof(fc.constantFrom<Json>(null, false, 0, 1, '', 'loop', [], {}), json);

test('a record is read back as it was written, whatever stands in any of its fields', () => {
  const names = Object.keys(sampleRecord()).filter((name) => name !== 'id');
  const change = fc.dictionary(fc.constantFrom(...names), value);
  fc.assert(
    fc.property(change, (changes) => {
      // As JSON has it: there is no negative zero.
      const record = { ...sampleRecord(), ...JSON.parse(JSON.stringify(changes)) } as TaskRecord;
      expect(readRecord(record.id, recordTextOf(record))).toEqual(record);
    }),
    { numRuns: 2_000 },
  );
});

test('an input that was not given is still there, and not given', () => {
  const record = sampleRecord({ input: undefined });
  expect(readRecord(record.id, recordTextOf(record))).toStrictEqual(record);
});

test('a row says only what is not as usual', () => {
  const text = recordTextOf(sampleRecord());
  expect(text).not.toMatch(/"(unanswered|steps|mode|delivery)"/);
  expect(text).toMatch(/"resumable":true/);
});
