import { EditorView } from '@codemirror/view';

/** How the list of completions looks. The colours are the page's (styles/colours.css). */
export const completionTheme = EditorView.theme({
  // The details of a completion are shown beside the list, in a child of this element, which must not cut them off.
  '.cm-tooltip.cm-tooltip-autocomplete': { overflow: 'visible' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    borderRadius: '7px',
    fontFamily: 'var(--mono)',
    fontSize: '13px',
    maxHeight: '14em',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px', lineHeight: '1.5' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected], .cm-tooltip-autocomplete-disabled > ul > li[aria-selected]':
    {
      backgroundColor: 'var(--accent-fill)',
      color: 'var(--on-accent)',
    },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8' },
});
