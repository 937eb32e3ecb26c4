import { StateEffect, StateField } from '@codemirror/state';
import { EditorView, type Tooltip, showTooltip } from '@codemirror/view';

/** Shows a tooltip at the cursor, which replaces the former one; `null` removes it. */
export const showAtCursor = StateEffect.define<Tooltip | null>();

/** Holds one tooltip, which the next change or movement of the cursor removes. */
export const cursorTooltip = StateField.define<Tooltip | null>({
  create: () => null,
  update(shown, { effects, docChanged, selection }) {
    for (const effect of effects) if (effect.is(showAtCursor)) return effect.value;
    return docChanged || selection ? null : shown;
  },
  provide: (field) => showTooltip.from(field),
});

/** Shows a message at the cursor, such as why a command did nothing. Returns its tooltip. */
export function showMessage(view: EditorView, text: string): Tooltip {
  const create = () => {
    const dom = document.createElement('div');
    dom.className = 'cm-place-message';
    dom.textContent = text;
    return { dom };
  };
  const tooltip = { pos: view.state.selection.main.head, above: true, create };
  view.dispatch({ effects: [showAtCursor.of(tooltip), EditorView.announce.of(text)] });
  return tooltip;
}

/** The message of a failed request. The protocol's errors are objects with a message, but not of class `Error`. */
export function messageOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}

/** Shows at the cursor why the request of a command failed. */
export const showFailure = (view: EditorView, error: unknown): void =>
  void showMessage(view, messageOf(error));
