import { repeat } from 'lit/directives/repeat.js';

/**
 * Renders a list in which items may come and go. Each item keeps its elements, so that the focus, or a click that is on its way, does
 * not get to another item when one appears before it.
 */
export const repeatById = <Item extends { readonly id: unknown }>(
  items: readonly Item[],
  view: (item: Item, index: number) => unknown,
): unknown => repeat(items, ({ id }) => id, view);
