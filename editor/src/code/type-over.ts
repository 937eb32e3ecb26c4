import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/**
 * Replaces a selection of several lines by what is typed before the browser does. Chromium would keep the look of what it
 * deletes by a style attribute, which the page's policy forbids and reports; CodeMirror draws the text anew in any case.
 */
export const typeOver = (): Extension =>
  EditorView.domEventHandlers({
    beforeinput: (event, view) => {
      const { state } = view;
      const { from, to } = state.selection.main;
      const { inputType, data } = event;
      const isTyped = inputType === 'insertText' && data !== null && !event.isComposing && !view.composing;
      if (!isTyped || state.readOnly || state.doc.lineAt(from).to >= to) return false;
      const insert = () =>
        state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
      // A handler may do more than insert, such as put brackets around the selection.
      const handlers = state.facet(EditorView.inputHandler);
      if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
      return true;
    },
  });
