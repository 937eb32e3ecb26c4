type Attribute = string | boolean | undefined | ((event: Event) => void);

/**
 * Makes an element. A function is a listener for the event after `on`, `true` an attribute without a value; what is
 * `false` or `undefined` is left out. Texts become text nodes: nothing is ever read as HTML.
 */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

/** The element of the page with this id, which must be there. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}`);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Icons on a grid of 16, drawn with a line of 1.5. */
const icons = {
  up: 'M8 12.5v-9M4 7.5l4-4 4 4',
  down: 'M8 3.5v9M4 8.5l4 4 4-4',
  remove: 'M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4',
  add: 'M8 3v10M3 8h10',
  chevron: 'M6 3.5 10.5 8 6 12.5',
  close: 'm4 4 8 8M12 4l-8 8',
  run: 'M5 3.2v9.6L12.5 8z',
  pass: 'm3.5 8.5 3 3 6-7',
  fail: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  warning: 'M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  panel: 'M2.5 3.5h11v9h-11zM10 3.5v9',
  stop: 'M4.5 4.5h7v7h-7z',
} as const;

export type Icon = keyof typeof icons;

/** An icon; the control that holds it has the words. */
export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', icons[name]);
  svg.append(path);
  return svg;
}
