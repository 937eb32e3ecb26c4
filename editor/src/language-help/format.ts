import { getIndentUnit, indentUnit } from '@codemirror/language';
import { texts } from '../locales/locale.ts';
import { showMessage } from './cursor-message.ts';
import { applyEdits, sendClientRequest, textCommand } from './text-command.ts';

/** Formats the whole text. */
export const formatText = textCommand(async (plugin) => {
  const { view } = plugin;
  const { state } = view;
  const options = {
    tabSize: getIndentUnit(state),
    insertSpaces: !state.facet(indentUnit).includes('\t'),
  };
  const edits = await sendClientRequest(plugin, 'textDocument/formatting', { options }).result;
  if (view.state.doc !== state.doc) showMessage(view, texts().languageHelp.changed);
  else if (!edits?.length) showMessage(view, texts().languageHelp.formatted);
  else applyEdits(plugin, edits, 'format');
});
