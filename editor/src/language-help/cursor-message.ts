import { StateEffect, StateField } from '@codemirror/state';
import { EditorView, type Tooltip, showTooltip } from '@codemirror/view';

/** Shows a tooltip at the cursor, in place of the former one; `null` takes it away. */
export const showAtCursor = StateEffect.define<Tooltip | null>();

/** Room for one tooltip, which goes with the next change or movement. */
export const cursorTooltip = StateField.define<Tooltip | null>({
  create: () => null,
  update(shown, { effects, docChanged, selection }) {
    for (const effect of effects) if (effect.is(showAtCursor)) return effect.value;
    return docChanged || selection ? null : shown;
  },
  provide: (field) => showTooltip.from(field),
});

/** Says in passing why a command did nothing. */
export function showMessage(view: EditorView, text: string): void {
  const create = () => {
    const dom = document.createElement('div');
    dom.className = 'cm-place-message';
    dom.textContent = text;
    return { dom };
  };
  view.dispatch({
    effects: [
      showAtCursor.of({ pos: view.state.selection.main.head, above: true, create }),
      EditorView.announce.of(text),
    ],
  });
}

/** Why a request has no answer, in words. The protocol's errors are objects with a message. */
export function messageOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}

/** Says why a request that was asked for by command has no answer. */
export const showFailure = (view: EditorView, error: unknown): void => showMessage(view, messageOf(error));
