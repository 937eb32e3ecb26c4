import { EditorView } from '@codemirror/view';
import { texts } from '../locales/locale.ts';
import { showMessage } from './cursor-message.ts';
import { rememberPlace, sendClientRequest, textCommand } from './text-command.ts';

/** Goes to where the name at the cursor is declared. */
export const goToDefinition = textCommand(async (plugin) => {
  const { view } = plugin;
  const isStillThere = rememberPlace(view);
  const position = plugin.toPosition(view.state.selection.main.head);
  const found = await sendClientRequest(plugin, 'textDocument/definition', { position }).result;
  if (!isStillThere()) return;
  const [first] = found?.ranges ?? [];
  if (!first) {
    const { builtIn, noDefinition } = texts().languageHelp;
    showMessage(view, found?.isBuiltIn ? builtIn : noDefinition);
    return;
  }
  const anchor = plugin.fromPosition(first.start);
  view.dispatch({
    selection: { anchor, head: plugin.fromPosition(first.end) },
    effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
    userEvent: 'select.definition',
  });
  view.focus();
});
