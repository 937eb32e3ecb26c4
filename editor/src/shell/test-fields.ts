import type { TestEntry, TestList } from '../tests/test-list.ts';

/** Goes to something in the row of a test, or in the panel of tests; a name is selected, to be typed over. */
export function focusInTests(entry: TestEntry | undefined, selector: string): void {
  const place = document.querySelector(entry ? `.test-row[data-id="${entry.id}"]` : '.tests');
  const target = place?.querySelector<HTMLElement>(selector);
  target?.focus();
  if (target instanceof HTMLInputElement) target.select();
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
