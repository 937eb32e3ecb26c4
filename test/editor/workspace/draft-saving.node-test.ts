import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Access } from '../../../editor/src/workspace/access.ts';
import { DraftSaving } from '../../../editor/src/workspace/draft-saving.ts';
import type { PluginDocument } from '../../../editor/src/workspace/plugin-document.ts';
import type { PluginSession } from '../../../editor/src/workspace/plugin-session.ts';

test('a source is not brought back once nothing may be changed, because it could not be saved', () => {
  const present = { lang: 'javascript', contents: 'present' };
  const document = {
    source: present,
    replace: (source: typeof present) => (document.source = source),
  };
  const copies = { keep: () => {}, drop: () => {} };
  const session = { copies, signal: new AbortController().signal } as unknown as PluginSession;
  const access = new Access(['read', 'write'], false);
  const saving = new DraftSaving(session, access, document as unknown as PluginDocument, true);
  access.isHostReadOnly = true;
  saving.restore({ lang: 'javascript', contents: 'former' });
  assert.equal(document.source.contents, 'present');
  assert.equal(saving.isUnsaved, false);
});
