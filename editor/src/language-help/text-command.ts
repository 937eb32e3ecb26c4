import { LSPPlugin } from '@codemirror/lsp-client';
import type { Command, EditorView } from '@codemirror/view';
import { showFailure } from './cursor-message.ts';
import type { HelpMethod, HelpResult, TextEdits } from './results.ts';

/** A command on a text with language help. Where it fails, the reason is shown at the cursor. */
export const textCommand =
  (run: (plugin: LSPPlugin) => Promise<void>): Command =>
  (view) => {
    const plugin = LSPPlugin.get(view);
    if (plugin) run(plugin).catch((error: unknown) => showFailure(view, error));
    return plugin !== null;
  };

/** Remembers where the user is. Returns whether they still are: a late response must not take them away from another place. */
export function rememberPlace(view: EditorView): () => boolean {
  const { doc, selection } = view.state;
  return () => {
    const { activeElement } = document;
    const isElsewhere = activeElement !== document.body && !view.dom.contains(activeElement);
    return view.state.doc === doc && view.state.selection.eq(selection) && !isElsewhere;
  };
}

/** Sends a request about the present text through CodeMirror's client, after the client has sent the text itself. */
export function sendClientRequest<Method extends HelpMethod>(
  { client }: LSPPlugin,
  method: Method,
  params: object,
): { result: Promise<HelpResult<Method>>; cancel: () => void } {
  client.sync();
  return {
    result: client.request<object, HelpResult<Method>>(method, params),
    cancel: () => client.cancelRequest(params),
  };
}

/** Applies edits that the service made for the present text, as one step of undo. */
export function applyEdits(plugin: LSPPlugin, edits: TextEdits, userEvent: string): void {
  const { view } = plugin;
  view.dispatch({
    changes: edits.map(({ range, newText }) => ({
      from: plugin.fromPosition(range.start),
      to: plugin.fromPosition(range.end),
      insert: view.state.toText(newText),
    })),
    userEvent,
  });
}
