import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LIMITS, MAX_VALUES } from '../../src/core/messages.ts';

test('the README says how much is taken of what an editor says', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const rows = [
    ...readme.matchAll(/^\| `([\w-]+)` \| `(\w+)` \| ([\d,]+)(?:[^|;]*; (\d+) items)?[^|]*\|$/gm),
  ];
  const number = (text: string) => Number(text.replaceAll(',', ''));
  const limits: Record<string, Record<string, number>> = {};
  for (const [, type = '', name = '', text = ''] of rows) (limits[type] ??= {})[name] = number(text);
  assert.deepEqual(limits, LIMITS);
  assert.deepEqual(
    rows.flatMap(([, type, name, , values]) => (values ? [[type, name, number(values)]] : [])),
    [
      ['hello', 'capabilities', MAX_VALUES],
      ['ready', 'permissions', MAX_VALUES],
      ['test', 'error', MAX_VALUES],
    ],
  );
});
