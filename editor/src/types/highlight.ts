import { typescriptLanguage } from '@codemirror/lang-javascript';
import { highlightCode } from '@lezer/highlight';
import { type TemplateResult, html } from 'lit/html.js';
import { codeHighlight } from '../code/code-theme.ts';

/** TypeScript in the colours of the text editor, whose style sheet is in the page with it. */
export function highlightTypes(code: string): TemplateResult {
  const parts: (TemplateResult | string)[] = [];
  highlightCode(
    code,
    typescriptLanguage.parser.parse(code),
    codeHighlight,
    (text, classes) => parts.push(classes ? html`<span class=${classes}>${text}</span>` : text),
    () => parts.push('\n'),
  );
  return html`${parts}`;
}
