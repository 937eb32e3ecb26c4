import { LSPPlugin } from '@codemirror/lsp-client';
import { type Command, EditorView } from '@codemirror/view';
import { texts } from '../locales/locale.ts';
import { sendClientRequest } from './client-request.ts';
import { showFailure, showMessage } from './cursor-message.ts';

/** Goes to where the name at the cursor is declared. */
export const goToDefinition: Command = (view) => {
  const plugin = LSPPlugin.get(view);
  if (plugin) void findDefinition(plugin);
  return plugin !== null;
};

async function findDefinition(plugin: LSPPlugin): Promise<void> {
  const { view } = plugin;
  const { doc, selection } = view.state;
  const position = plugin.toPosition(selection.main.head);
  try {
    const found = await sendClientRequest(plugin, 'textDocument/definition', { position }).result;
    // The ranges are those of the text that the request was about.
    if (view.state.doc !== doc) return;
    const [first] = found?.ranges ?? [];
    if (first) select(view, plugin.fromPosition(first.start), plugin.fromPosition(first.end));
    else if (found?.isBuiltIn) showMessage(view, texts().languageHelp.builtIn);
    else showMessage(view, texts().languageHelp.noDefinition);
  } catch (error) {
    showFailure(view, error);
  }
}

function select(view: EditorView, anchor: number, head: number): void {
  view.dispatch({
    selection: { anchor, head },
    effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
    userEvent: 'select.definition',
  });
  view.focus();
}
