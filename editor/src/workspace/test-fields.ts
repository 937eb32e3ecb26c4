import type { TestEntry, TestList } from '../tests/test-list.ts';

/** Moves the focus into the row of a test, or without one into the panel of tests. The text of an input is selected. */
export function focusInTests(entry: TestEntry | undefined, selector: string): void {
  const place = document.querySelector(entry ? `.test-row[data-id="${entry.id}"]` : '.tests');
  const target = place?.querySelector<HTMLElement>(selector);
  target?.focus();
  if (target instanceof HTMLInputElement) target.select();
}

/** Scrolls to the result of a test, unless the user is typing in a field of that test, which must not move. */
export function showResult(entry: TestEntry): void {
  const row = document.querySelector(`.test-row[data-id="${entry.id}"]`);
  if (row?.querySelector('.field:focus')) return;
  row?.querySelector('.result')?.scrollIntoView({ block: 'nearest' });
}

/**
 * What Ctrl+Enter runs in the field that has the focus: its test, or the payload of the panel for runs; `undefined` for any
 * other key and field.
 */
export function focusedPayload(event: KeyboardEvent, tests: TestList): TestEntry | 'payload' | undefined {
  const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event;
  if (key !== 'Enter' || !(ctrlKey || metaKey) || shiftKey || altKey || !(target instanceof Element))
    return undefined;
  if (target.id === 'run-payload') return 'payload';
  const id = Number(target.closest<HTMLElement>('.test-row')?.dataset['id'] ?? 0);
  return tests.entries.find((one) => one.id === id);
}
