import { readFileSync } from 'node:fs';

/** Where the README and what it links to lie. */
export const root = new URL('../../', import.meta.url);

export const readme = readFileSync(new URL('README.md', root), 'utf8');

export interface Block {
  language: string;
  /** What follows the language: the name of the file that the block is. Empty where it is none. */
  name: string;
  code: string;
}

/** The blocks of code of a page. */
export const blocksIn = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(\w*) ?(\S*)\n(.*?)^```$/gms)].map(
    ([, language = '', name = '', code = '']) => ({ language, name, code }),
  );

export const blocks = blocksIn(readme);

/**
 * The code of the block with that name.
 * @param places what to put in the place of the README's made-up addresses, such as `https://builder.example.com`
 */
export function snippet(name: string, places: Record<string, string> = {}): string {
  const found = blocks.filter((block) => block.name === name);
  if (found.length !== 1) throw new Error(`README.md has ${found.length} blocks named ${name}, not one`);
  let { code } = found[0] as Block;
  for (const [place, real] of Object.entries(places)) {
    if (!code.includes(place)) throw new Error(`${name} in README.md does not name ${place}`);
    code = code.replaceAll(place, real);
  }
  return code;
}

/** The ids that GitHub gives to the headings. */
export function anchors(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
