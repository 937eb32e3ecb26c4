// Writes Markdown: the generated parts of pages.

export const code = (text: string): string => `\`${text}\``;

/** Escapes `<` outside of code, so that it begins no HTML tag. */
export const prose = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 ? part : part.replaceAll('<', '&lt;')))
    .join('');

export const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/**
 * Replaces the text between the markers of each section. The formatter skips it, because it would pad tables to twice their size.
 */
export function fillMarkers(text: string, sections: Record<string, string>): string {
  for (const [name, section] of Object.entries(sections)) {
    const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from)
      throw new Error(`The page must have the markers ${begin} and ${end}, in this order.`);
    text = [
      text.slice(0, from + begin.length),
      '<!-- prettier-ignore-start -->',
      section,
      '<!-- prettier-ignore-end -->',
      text.slice(to),
    ].join('\n\n');
  }
  return text;
}
