import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the README and `docs`. */
export const root = new URL('../../', import.meta.url);

export const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

export const readme = read('README.md');

export interface Block {
  language: string;
  /** The name of the file that the block represents, which follows the language. Empty if there is none. */
  name: string;
  code: string;
}

/** The blocks of code of a page. */
export const blocksIn = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(\w*) ?(\S*)\n(.*?)^```$/gms)].map(
    ([, language = '', name = '', code = '']) => ({ language, name, code }),
  );

/**
 * The pages whose blocks are files of an application: no two of these blocks have the same name. Those of the guides `back-end`
 * and `roles` are an application of their own, which `back-end.release-test.ts` runs.
 */
export const pages: readonly string[] = [
  'README.md',
  ...globSync('docs/{start,guides,reference,security}/*.md', { cwd: fileURLToPath(root) })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/(?:back-end|roles)\.md$/.test(path))
    .toSorted(),
];

export const blocks: readonly Block[] = pages.flatMap((page) => blocksIn(read(page)));

/**
 * The code of the block with that name.
 * @param places replacements for example URLs, such as `https://builder.example.com`
 */
export function snippet(name: string, places: Record<string, string> = {}): string {
  const found = blocks.filter((block) => block.name === name);
  if (found.length !== 1) throw new Error(`The pages have ${found.length} blocks named ${name}, not one`);
  let { code } = found[0] as Block;
  for (const [place, real] of Object.entries(places)) {
    if (!code.includes(place)) throw new Error(`${name} does not name ${place}`);
    code = code.replaceAll(place, real);
  }
  return code;
}

/** The ids of the headings on GitHub. */
export function anchors(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
