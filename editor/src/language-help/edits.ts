import type { LSPPlugin } from '@codemirror/lsp-client';
import type { TextEdits } from './results.ts';

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
