import { autocompletion } from '@codemirror/autocomplete';
import type { Extension } from '@codemirror/state';
import { EditorView, type Rect } from '@codemirror/view';

/** The least width for documentation beside the list, and the most, in px. */
const MIN_WIDTH = 200;
const MAX_WIDTH = 420;

/**
 * Where the documentation of a completion stands: beside the list, or below or above the whole list where there is no room
 * beside it. CodeMirror would then put it over the list.
 * @param isAbove whether the list is above the line that is typed
 */
export function placeDocumentation(
  list: Rect,
  option: Rect,
  { top, bottom }: Rect,
  space: Rect,
  isAbove: boolean,
): { style: string; class: string } {
  const [left, right] = [list.left - space.left, space.right - list.right];
  if (Math.max(left, right) >= MIN_WIDTH) {
    const isLeft = right < MIN_WIDTH;
    const offset = Math.max(space.top, Math.min(option.top, space.bottom - (bottom - top))) - list.top;
    return {
      style: `top: ${offset}px; max-width: ${Math.min(MAX_WIDTH, isLeft ? left : right)}px`,
      class: `cm-completionInfo-${isLeft ? 'left' : 'right'}`,
    };
  }
  const height = `${list.bottom - list.top}px`;
  const room = isAbove ? list.top - space.top : space.bottom - list.bottom;
  const width = Math.min(MAX_WIDTH, space.right - list.left);
  return {
    style: `${isAbove ? 'bottom' : 'top'}: ${height}; left: 0; max-width: ${width}px; max-height: min(16em, ${room}px)`,
    class: 'cm-completionInfo-apart',
  };
}

/** The sign and the colour of each kind of completion. */
const kinds: Record<string, readonly [sign: string, colour: string]> = {
  function: ['ƒ', 'function'],
  method: ['ƒ', 'function'],
  variable: ['x', 'property'],
  constant: ['c', 'number'],
  property: ['p', 'property'],
  class: ['C', 'type'],
  interface: ['I', 'type'],
  type: ['T', 'type'],
  enum: ['E', 'number'],
  namespace: ['N', 'type'],
  keyword: ['k', 'keyword'],
  text: ['a', 'comment'],
};

const theme = EditorView.theme({
  // The documentation is a child of this element, which must not cut it off.
  '.cm-tooltip.cm-tooltip-autocomplete': { overflow: 'visible' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    borderRadius: '7px',
    fontFamily: 'var(--mono)',
    fontSize: '13px',
    maxHeight: '14em',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    alignItems: 'baseline',
    padding: '3px 10px 3px 6px',
    lineHeight: '1.5',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected], .cm-tooltip-autocomplete-disabled > ul > li[aria-selected]':
    { backgroundColor: 'var(--accent-fill)', color: 'var(--on-accent)' },
  '.cm-completionLabel': { flex: 'none' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8' },
  '.cm-completionIcon': {
    flex: 'none',
    boxSizing: 'border-box',
    width: '1.4em',
    padding: '0',
    marginInlineEnd: '6px',
    fontSize: '12px',
    fontWeight: '600',
    opacity: '1',
  },
  ...Object.fromEntries(
    Object.entries(kinds).map(([kind, [sign, colour]]) => [
      `.cm-completionIcon-${kind}`,
      {
        color: `var(--code-${colour})`,
        '&:after': { content: `"${sign}"`, fontSize: 'inherit', verticalAlign: 'baseline' },
      },
    ]),
  ),
  'li[aria-selected] .cm-completionIcon': { color: 'inherit' },
  '.cm-tooltip.cm-completionInfo': { width: 'max-content', maxHeight: '16em', overflow: 'auto' },
});

/** The list of completions and the documentation beside it, in the page's colours (styles/colours.css). */
export const completionList = (config: Parameters<typeof autocompletion>[0] = {}): Extension => [
  autocompletion({
    positionInfo: (view, list, option, info, space) => {
      const cursor = view.coordsAtPos(view.state.selection.main.head);
      return placeDocumentation(list, option, info, space, cursor !== null && list.bottom <= cursor.top);
    },
    ...config,
  }),
  theme,
];
