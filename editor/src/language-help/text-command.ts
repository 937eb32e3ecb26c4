import { LSPPlugin } from '@codemirror/lsp-client';
import type { Command, EditorView, Tooltip } from '@codemirror/view';
import { texts } from '../locales/locale.ts';
import { cursorTooltip, showAtCursor, showFailure, showMessage } from './cursor-message.ts';
import type { HelpMethod, HelpResult, TextEdits } from './results.ts';

/** How long a command waits for the service before it says so, in ms. */
export const WAIT = 400;

/** A command on a text with language help. That it waits, and why it failed, is shown at the cursor. */
export const textCommand =
  (run: (plugin: LSPPlugin) => Promise<void>): Command =>
  (view) => {
    const plugin = LSPPlugin.get(view);
    if (plugin) void showProgress(view, () => run(plugin));
    return plugin !== null;
  };

async function showProgress(view: EditorView, run: () => Promise<void>): Promise<void> {
  const isStillThere = rememberPlace(view);
  let waiting: Tooltip | undefined;
  const timer = setTimeout(() => {
    if (isStillThere()) waiting = showMessage(view, texts().common.loading);
  }, WAIT);
  try {
    await run();
  } catch (error) {
    showFailure(view, error);
  } finally {
    clearTimeout(timer);
    if (waiting && view.state.field(cursorTooltip, false) === waiting)
      view.dispatch({ effects: showAtCursor.of(null) });
  }
}

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
