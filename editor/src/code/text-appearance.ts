import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightSpecialChars, lineNumbers } from '@codemirror/view';
import { texts } from '../locales/locale.ts';
import { codeTheme, styleNonce } from './code-theme.ts';

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
