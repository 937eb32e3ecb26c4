import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightSpecialChars, lineNumbers } from '@codemirror/view';
import { tags as t } from '@lezer/highlight';
import { texts } from '../locales/locale.ts';
import { isDark, onSchemeChange } from '../ui/colour-scheme.ts';

// Colours are the page's custom properties (styles/colours.css), so light and dark change without the editor's doing.

export const codeHighlight = HighlightStyle.define([
  {
    tag: [t.keyword, t.controlKeyword, t.moduleKeyword, t.operatorKeyword, t.modifier],
    color: 'var(--code-keyword)',
  },
  { tag: [t.string, t.special(t.string), t.docString, t.character], color: 'var(--code-string)' },
  { tag: [t.regexp, t.escape], color: 'var(--code-regexp)' },
  { tag: [t.number, t.bool, t.null, t.atom, t.self], color: 'var(--code-number)' },
  { tag: [t.comment, t.lineComment, t.blockComment, t.docComment], color: 'var(--code-comment)' },
  {
    tag: [t.function(t.variableName), t.function(t.propertyName), t.function(t.definition(t.variableName))],
    color: 'var(--code-function)',
  },
  { tag: [t.typeName, t.className, t.namespace, t.standard(t.typeName)], color: 'var(--code-type)' },
  { tag: [t.propertyName, t.definition(t.propertyName), t.attributeName], color: 'var(--code-property)' },
  { tag: [t.operator, t.punctuation, t.separator, t.bracket], color: 'var(--code-punctuation)' },
  { tag: t.invalid, color: 'var(--code-invalid)' },
]);

const theme = EditorView.theme({
  '&': {
    height: '100%',
    color: 'var(--text)',
    backgroundColor: 'var(--editor)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { padding: '12px 0 40px', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 16px 0 10px' },
  '.cm-cursor, .cm-dropCursor': { borderLeft: '2px solid var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--code-selection)',
  },
  '.cm-content ::selection': { backgroundColor: 'var(--code-selection)' },
  '.cm-activeLine': { backgroundColor: 'var(--code-line)' },
  '.cm-gutters': { backgroundColor: 'var(--editor)', color: 'var(--code-gutter)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 6px 0 14px', minWidth: '26px' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--code-line)', color: 'var(--text)' },
  '.cm-foldGutter .cm-gutterElement': { cursor: 'pointer' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    color: 'var(--muted)',
    margin: '0 4px',
    padding: '0 6px',
  },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--accent)',
    borderRadius: '2px',
  },
  '&.cm-focused .cm-nonmatchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--code-invalid)',
    borderRadius: '2px',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--code-match)', borderRadius: '2px' },
  '.cm-searchMatch-selected': { outline: '2px solid var(--accent)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--code-same)', borderRadius: '2px' },
  '.cm-panels': { backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  // The marks of problems, which are loaded with the first one, take the room that the line numbers have to their left.
  '.cm-gutter-lint': { width: '14px' },
  '.cm-gutter-lint + .cm-lineNumbers .cm-gutterElement': { paddingLeft: '0', minWidth: '12px' },
  '.cm-gutter-lint .cm-gutterElement': { display: 'flex', alignItems: 'center', padding: '0 0 0 3px' },
});

const darkMode = new Compartment();

/** The nonce that the page's policy asks of each style. The service puts a new one into each response. */
export const styleNonce = (): Extension =>
  EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '');

/** How code looks. */
export const codeTheme = (): Extension => [
  theme,
  syntaxHighlighting(codeHighlight),
  // What the theme leaves to CodeMirror's own base styles comes in two variants.
  darkMode.of(EditorView.darkTheme.of(isDark())),
];

/** Keeps an editor's base styles light or dark as the page is. Returns a function that ends this. */
export const syncColourScheme = (view: EditorView): (() => void) =>
  onSchemeChange(() => view.dispatch({ effects: darkMode.reconfigure(EditorView.darkTheme.of(isDark())) }));

/** Attributes that name a text. It can be reached by keyboard, also in browsers that leave that to the page. */
export const contentName = (attributes: Record<string, string>): Extension =>
  EditorView.contentAttributes.of({ tabindex: '0', ...attributes });

/** The texts of CodeMirror's own controls, in the language of the page. */
export const codeMirrorPhrases = (): Extension => EditorState.phrases.of(texts().codePhrases);

/** How code looks wherever it is shown, edited or not. */
export const appearance = (): Extension => [
  styleNonce(),
  lineNumbers(),
  highlightSpecialChars(),
  codeTheme(),
];
