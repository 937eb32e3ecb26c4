import type { LSPPlugin } from '@codemirror/lsp-client';
import type { TextEdits } from './results.ts';

/** Makes changes that the service found for the text as it is, as one step of undo. */
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
