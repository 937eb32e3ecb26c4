import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showLanguageNotice } from '../../../editor/src/workspace/language-notice.ts';
import type { Workspace } from '../../../editor/src/workspace/workspace.ts';

test('that a draft keeps its language is said until it has the language that was asked for', () => {
  const shown = new Set<string>();
  let handleLanguage = () => {};
  const document = {
    language: 'javascript',
    on: (_: string, listener: () => void) => (handleLanguage = listener),
  };
  const notices = { show: (kind: string) => shown.add(kind), hide: (kind: string) => shown.delete(kind) };
  const workspace = { session: { notices }, access: { canWrite: true }, document };
  showLanguageNotice(workspace as unknown as Workspace, 'typescript');
  for (const [language, isShown] of [
    ['python', true],
    // A version in that language was brought back.
    ['typescript', false],
  ] as const) {
    document.language = language;
    handleLanguage();
    assert.equal(shown.size > 0, isShown, language);
  }
});
