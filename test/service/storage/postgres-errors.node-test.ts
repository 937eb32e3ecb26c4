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

for (const [code, expected] of Object.entries({
  53100: { isUnavailable: true, isDiskFull: true, isFull: false, isConflict: false },
  53300: { isUnavailable: true, isDiskFull: false, isFull: true, isConflict: false },
  40001: { isUnavailable: true, isDiskFull: false, isFull: false, isConflict: true },
  23505: { isUnavailable: false, isDiskFull: false, isFull: false, isConflict: false },
}))
  test(`the state ${code} of PostgreSQL is ${JSON.stringify(expected)}`, () => {
    const error = errorOf(code);
    const found = {
      isUnavailable: isUnavailable(error),
      isDiskFull: isDiskFull(error),
      isFull: isFull(error),
      isConflict: isConflict(error),
    };
    assert.deepEqual(found, expected);
  });
