import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LIMITS, MAX_VALUES } from '../../src/core/messages.ts';

test('the README says how much is taken of what an editor says', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const rows = [
    ...readme.matchAll(/^\| `(\w+)` +\| `[\w-]+` +\| ([\d,]+)(?:[^|;]*; (\d+) items)?[^|]*\|$/gm),
  ];
  const number = (text: string) => Number(text.replaceAll(',', ''));
  assert.deepEqual(Object.fromEntries(rows.map(([, name = '', text = '']) => [name, number(text)])), LIMITS);
  assert.deepEqual(
    rows.flatMap(([, name, , values]) => (values ? [[name, number(values)]] : [])),
    [
      ['error', MAX_VALUES],
      ['capabilities', MAX_VALUES],
    ],
  );
});
