import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LIMITS, MAX_ASSIST_VALUES, MAX_VALUES } from '../../src/core/messages.ts';

test('the documentation names the limits of what is accepted from an editor', () => {
  const page = readFileSync(new URL('../../docs/reference/frame-protocol.md', import.meta.url), 'utf8');
  const rows = [
    ...page.matchAll(/^\| `([\w-]+)` +\| `(\w+)` +\| ([\d,]+)(?:[^|;]*; ([\d,]+) items)?[^|]*\|$/gm),
  ].map(([, type = '', field = '', limit = '', values]) => ({
    field: `${type}.${field}`,
    limit: Number(limit.replaceAll(',', '')),
    values: values && Number(values.replaceAll(',', '')),
  }));
  const limits = Object.entries(LIMITS).flatMap(([type, fields]) =>
    Object.entries(fields).map(([field, limit]) => [`${type}.${field}`, limit] as const),
  );
  assert.deepEqual(
    rows.map(({ field, limit }) => [field, limit]),
    limits,
  );
  assert.deepEqual(
    rows.filter(({ values }) => values).map(({ field, values }) => [field, values]),
    [
      ...['hello.capabilities', 'ready.permissions', 'test.error'].map((field) => [field, MAX_VALUES]),
      ...['assist.tests', 'assist.problems', 'assist.failures'].map((field) => [field, MAX_ASSIST_VALUES]),
    ],
  );
});
