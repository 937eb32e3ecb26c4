import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showLanguageNotice } from '../../../editor/src/workspace/language-notice.ts';
import type { Workspace } from '../../../editor/src/workspace/workspace.ts';

test('that a draft keeps its language is said until it has another one', () => {
  const shown = new Set<string>();
  let handleLanguage = () => {};
  const document = {
    language: 'javascript',
    on: (_: string, listener: () => void) => (handleLanguage = listener),
  };
  const notices = { show: (kind: string) => shown.add(kind), hide: (kind: string) => shown.delete(kind) };
  const workspace = { session: { notices }, access: { canWrite: true }, document };
  showLanguageNotice(workspace as unknown as Workspace, 'typescript');
  assert.equal(shown.size, 1);
  // A version in that language was brought back.
  handleLanguage();
  assert.equal(shown.size, 0);
});
