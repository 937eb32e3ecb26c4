import { EditorView } from '@codemirror/view';

/** The styles of language help. The colours are the page's (styles/colours.css). */
export const helpTheme = EditorView.theme({
  // Line breaks between HTML tags are not shown.
  '.cm-lsp-documentation, .cm-lsp-signature-tooltip .cm-lsp-signature-documentation': {
    padding: '6px 12px',
    fontSize: '13px',
    lineHeight: '1.5',
    whiteSpace: 'normal',
  },
  '.cm-lsp-documentation pre, .cm-lsp-documentation code, .cm-lsp-signature': {
    fontFamily: 'var(--mono)',
    fontSize: '12.5px',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
  },
  '.cm-lsp-documentation pre': { margin: '2px 0' },
  '.cm-lsp-documentation p': { margin: '6px 0' },
  '.cm-lsp-hover-tooltip, .cm-lsp-signature-tooltip': {
    maxWidth: 'min(560px, 90vw)',
    maxHeight: '20em',
    overflow: 'auto',
    color: 'var(--text)',
  },
  '.cm-lsp-signature': { padding: '6px 12px 2px' },
  '.cm-lsp-signature-num': {
    fontSize: '12px',
    fontFamily: 'var(--mono)',
    color: 'var(--muted)',
    padding: '4px 0 0 12px',
  },
  '.cm-lsp-active-parameter': { fontWeight: '700', textDecoration: 'underline', color: 'inherit' },
  '.cm-place-message': { padding: '6px 12px', fontSize: '13px', color: 'var(--text)' },
  '.cm-quick-fixes': { display: 'grid', padding: '4px', minWidth: '220px' },
  '.cm-rename': {
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: '8px',
    padding: '8px 12px',
    maxWidth: 'min(480px, 90vw)',
    fontSize: '13px',
    color: 'var(--text)',
  },
  '.cm-rename label': { display: 'inline-flex', alignItems: 'center', gap: '8px', whiteSpace: 'nowrap' },
  '.cm-rename input': { fontFamily: 'var(--mono)' },
  '.cm-rename p': { flexBasis: '100%', margin: '0' },
  '.cm-rename p[role=alert]': { color: 'var(--bad)' },
  '.cm-rename p:empty': { display: 'none' },
});
