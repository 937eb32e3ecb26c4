import { EditorView } from '@codemirror/view';

/** How problems are marked in a text. It is loaded with the first problem; the colours are the page's (styles/colours.css). */
export const problemTheme = EditorView.theme({
  '.cm-lintRange': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy 1.5px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-error': { textDecorationColor: 'var(--bad)' },
  '.cm-lintRange-warning, .cm-lintRange-info': { textDecorationColor: 'var(--warn)' },
  '.cm-lintRange-active': { backgroundColor: 'var(--code-match)' },
  '.cm-lint-marker': {
    forcedColorAdjust: 'none',
    width: '8px',
    height: '8px',
    borderRadius: '50%',
    backgroundColor: 'var(--warn)',
  },
  // Drawn by the page: a picture would keep its colours in the dark, and in forced colours.
  '.cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info': { content: 'normal' },
  '.cm-lint-marker-error': { borderRadius: '2px', backgroundColor: 'var(--bad)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--bad)' },
  '.cm-tooltip.cm-tooltip-lint': { maxWidth: 'min(480px, 90vw)', color: 'var(--text)', fontSize: '13px' },
  '.cm-diagnostic': { padding: '6px 12px', borderLeftWidth: '3px' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning, .cm-diagnostic-info': { borderLeftColor: 'var(--warn)' },
  '.problem-fix': { marginInlineStart: '8px' },
  '.cm-diagnosticSource': { display: 'none' },
});
