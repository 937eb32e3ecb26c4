import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRecent } from '../../../editor/src/locales/run-formats.ts';

test('a time of today is shown as the hour, and another one with its day', () => {
  const now = new Date(2026, 4, 3, 18);
  const [today, yesterday] = [new Date(2026, 4, 3, 9, 5, 7), new Date(2026, 4, 2, 9, 5, 7)];
  assert.doesNotMatch(formatRecent(today, now), /2026/);
  assert.match(formatRecent(today, now), /\b07\b/);
  assert.match(formatRecent(yesterday, now), /2026/);
});
