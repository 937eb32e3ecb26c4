import { RangeSetBuilder, countColumn } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  type PluginValue,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';

/** The deepest indentation that wrapped lines keep, in columns: they need room for words. */
const MAX_COLUMNS = 24;

/** Indents what wraps as far as the line that it belongs to. */
class HangingIndents implements PluginValue {
  decorations: DecorationSet;

  constructor(view: EditorView) {
    this.decorations = indentsOf(view);
  }

  update({ docChanged, viewportChanged, startState, state, view }: ViewUpdate): void {
    if (docChanged || viewportChanged || startState.tabSize !== state.tabSize)
      this.decorations = indentsOf(view);
  }
}

function indentsOf({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to;) {
      const line = state.doc.lineAt(at);
      const { length } = /^\s*/.exec(line.text)?.[0] ?? '';
      const columns = Math.min(MAX_COLUMNS, countColumn(line.text, state.tabSize, length));
      const style = `padding-left: calc(10px + ${columns}ch); text-indent: -${columns}ch`;
      if (columns) builder.add(line.from, line.from, Decoration.line({ attributes: { style } }));
      at = line.to + 1;
    }
  }
  return builder.finish();
}

/** Wraps long lines. */
export const wrapping = [
  EditorView.lineWrapping,
  ViewPlugin.fromClass(HangingIndents, { decorations: ({ decorations }) => decorations }),
];
