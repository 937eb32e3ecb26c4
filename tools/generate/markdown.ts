// How the generated parts of pages are written.

export const code = (text: string): string => `\`${text}\``;

/** A sentence as Markdown, in which `<` outside of code begins no tag. */
export const prose = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 ? part : part.replaceAll('<', '&lt;')))
    .join('');

export const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Puts the sections between their markers, as they are: padding tables to their widest cell would double them. */
export function fillMarkers(text: string, sections: Record<string, string>): string {
  for (const [name, section] of Object.entries(sections)) {
    const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`There is no ${begin} … ${end}`);
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
