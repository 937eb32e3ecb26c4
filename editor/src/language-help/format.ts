import { getIndentUnit, indentUnit } from '@codemirror/language';
import { LSPPlugin } from '@codemirror/lsp-client';
import type { Command } from '@codemirror/view';
import { texts } from '../locales/locale.ts';
import { sendClientRequest } from './client-request.ts';
import { applyEdits } from './edits.ts';
import { showFailure, showMessage } from './cursor-message.ts';

/** Formats the whole text. */
export const formatText: Command = (view) => {
  const plugin = LSPPlugin.get(view);
  if (plugin) void format(plugin);
  return plugin !== null;
};

async function format(plugin: LSPPlugin): Promise<void> {
  const { view } = plugin;
  const { state } = view;
  const options = {
    tabSize: getIndentUnit(state),
    insertSpaces: !state.facet(indentUnit).includes('\t'),
  };
  try {
    const edits = await sendClientRequest(plugin, 'textDocument/formatting', { options }).result;
    if (view.state.doc !== state.doc) showMessage(view, texts().languageHelp.changed);
    else if (!edits?.length) showMessage(view, texts().languageHelp.formatted);
    else applyEdits(plugin, edits, 'format');
  } catch (error) {
    showFailure(view, error);
  }
}
