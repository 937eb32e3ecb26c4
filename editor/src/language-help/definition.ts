import { LSPPlugin } from '@codemirror/lsp-client';
import { type Command, EditorView } from '@codemirror/view';
import { askClient } from './client.ts';
import { showMessage } from './place-message.ts';

/** Goes to where the name at the cursor is declared. */
export const goToDefinition: Command = (view) => {
  const plugin = LSPPlugin.get(view);
  if (!plugin) return false;
  const { state } = view;
  const position = plugin.toPosition(state.selection.main.head);
  askClient(plugin, 'textDocument/definition', { position }).result.then(
    (found) => {
      // The places are those of the text that was asked about.
      if (view.state.doc !== state.doc) return;
      const [first] = found?.ranges ?? [];
      if (!first) {
        return showMessage(
          view,
          found?.isBuiltIn
            ? 'This is part of the language, not of the plugin.'
            : 'There is no definition for this.',
        );
      }
      const [anchor, head] = [plugin.fromPosition(first.start), plugin.fromPosition(first.end)];
      view.dispatch({
        selection: { anchor, head },
        effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
        userEvent: 'select.definition',
      });
      view.focus();
    },
    (error: Error) => showMessage(view, error.message),
  );
  return true;
};
