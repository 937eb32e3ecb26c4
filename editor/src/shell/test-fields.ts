import type { TestEntry, TestList } from '../tests/test-list.ts';

/** Goes to something in the row of a test, or in the panel of tests; a name is selected, to be typed over. */
export function focusInTests(entry: TestEntry | undefined, selector: string): void {
  const place = document.querySelector(entry ? `.test-row[data-id="${entry.id}"]` : '.tests');
  const target = place?.querySelector<HTMLElement>(selector);
  target?.focus();
  if (target instanceof HTMLInputElement) target.select();
}

/** Brings what a test gave into view, unless one writes in a field of the test: that stays where it is. */
export function showResult(entry: TestEntry): void {
  const row = document.querySelector(`.test-row[data-id="${entry.id}"]`);
  if (row?.querySelector('.field:focus')) return;
  row?.querySelector('.result')?.scrollIntoView({ block: 'nearest' });
}

/** What Ctrl+Enter runs where the cursor is: a test, the payload that is typed in, or nothing of its own. */
export function writtenPayload(event: KeyboardEvent, tests: TestList): TestEntry | 'payload' | undefined {
  const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event;
  if (key !== 'Enter' || !(ctrlKey || metaKey) || shiftKey || altKey || !(target instanceof Element))
    return undefined;
  if (target.id === 'run-payload') return 'payload';
  const id = Number(target.closest<HTMLElement>('.test-row')?.dataset['id'] ?? 0);
  return tests.entries.find((one) => one.id === id);
}
