import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import {
  EditorView,
  ViewPlugin,
  crosshairCursor,
  drawSelection,
  dropCursor,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  rectangularSelection,
} from '@codemirror/view';
import { render } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { icon } from '../ui/icon.ts';
import type { Settings } from '../ui/settings.ts';
import { appearance } from './code-theme.ts';
import { wrapping } from './wrapping.ts';

/** What makes a text one that can be edited, whatever its language is. */
export const textEditing = (): Extension => [
  appearance(),
  highlightActiveLineGutter(),
  foldGutter({ markerDOM: foldMarker }),
  history(),
  typeOver(),
  tabThrough,
  // The wheel must not scroll the page around the editor at the end of the text.
  EditorView.theme({ '.cm-scroller': { overscrollBehavior: 'contain' } }),
  // Forced colours would hide a selection that CodeMirror draws; the browser's own stays visible.
  matchMedia('(forced-colors: active)').matches ? [] : drawSelection({ cursorBlinkRate: blinkRate() }),
  dropCursor(),
  EditorState.allowMultipleSelections.of(true),
  indentOnInput(),
  bracketMatching(),
  rectangularSelection(),
  crosshairCursor(),
  highlightActiveLine(),
  // Pasted text gets the line breaks of this text.
  EditorView.clipboardInputFilter.of((text, state) => text.replace(/\r\n?|\n/g, state.lineBreak)),
  keymap.of([
    ...defaultKeymap,
    ...historyKeymap,
    ...foldKeymap,
    // Tab indents. CodeMirror lets Escape and then Tab leave the editor, and the page says so.
    indentWithTab,
  ]),
];

/** The user's settings about typing. */
export const typingSettings = ({ wrap, fontSize, tabWidth }: Settings): Extension => [
  wrap ? wrapping : [],
  indentUnit.of(' '.repeat(tabWidth)),
  EditorState.tabSize.of(tabWidth),
  EditorView.theme({ '&': { fontSize: `${fontSize}px` } }),
];

/** Keys that do not show that the user means the text: Tab goes on after them. */
const PASSING_KEYS: ReadonlySet<string> = new Set(['Tab', 'Shift', 'Control', 'Alt', 'Meta', 'Escape']);

/** Where Tab has brought the focus into the text, Tab leads out of it, until another key or a click there. */
const tabThrough = ViewPlugin.define((view) => {
  const abort = new AbortController();
  const { signal } = abort;
  let isTabbing = false;
  const endTab = () => (isTabbing = false);
  const listen = (target: EventTarget, type: string, handle: (event: Event) => void) =>
    target.addEventListener(type, handle, { capture: true, signal });
  listen(document, 'keydown', (event) => (isTabbing = (event as KeyboardEvent).key === 'Tab'));
  listen(document, 'keyup', endTab);
  // The release of a Tab that leads out of the page is not heard here. Capture would hear the blur of each control, too.
  window.addEventListener('blur', endTab, { signal });
  listen(view.contentDOM, 'focus', () => view.setTabFocusMode(isTabbing));
  listen(view.contentDOM, 'pointerdown', () => view.setTabFocusMode(false));
  listen(view.contentDOM, 'keydown', (event) => {
    if (!PASSING_KEYS.has((event as KeyboardEvent).key)) view.setTabFocusMode(false);
  });
  return { destroy: () => abort.abort() };
});

const blinkRate = () => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 1200);

function foldMarker(open: boolean): HTMLElement {
  const marker = document.createElement('span');
  marker.className = open ? 'fold fold-open' : 'fold';
  const { frame } = texts();
  marker.title = open ? frame.fold : frame.unfold;
  render(icon('chevron'), marker);
  return marker;
}

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
