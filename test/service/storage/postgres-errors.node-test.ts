import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import {
  isConflict,
  isDiskFull,
  isFull,
  isUnavailable,
} from '../../../service/src/storage/postgres/errors.ts';

/** An error as the driver makes it of the server's message. */
function errorOf(code: string): DatabaseError {
  const error = new DatabaseError('could not extend file: No space left on device', 0, 'error');
  error.code = code;
  return error;
}

const none = { isUnavailable: false, isDiskFull: false, isFull: false, isConflict: false };

for (const [code, title, expected] of [
  ['53100', 'the disk is full', { ...none, isUnavailable: true, isDiskFull: true }],
  ['53300', 'the server has too many connections', { ...none, isUnavailable: true, isFull: true }],
  ['40001', 'another transaction was in the way', { ...none, isUnavailable: true, isConflict: true }],
  ['23505', 'the statement is at fault', none],
] as const)
  test(`error ${code} of PostgreSQL says that ${title}`, () => {
    const error = errorOf(code);
    const found = {
      isUnavailable: isUnavailable(error),
      isDiskFull: isDiskFull(error),
      isFull: isFull(error),
      isConflict: isConflict(error),
    };
    assert.deepEqual(found, expected);
  });
