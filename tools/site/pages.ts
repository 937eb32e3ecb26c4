import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The pages outside of `docs`: their paths in the repository, and in the site. */
const others: Readonly<Record<string, string>> = {
  'tools/site/home.md': 'index.md',
  'README.md': 'readme.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'reporting.md',
  'editor/README.md': 'contribute/editor.md',
};

/** The Markdown files that are no pages of the site, as globs from the root. */
export const excludedPages = ['{demo,deploy,service,src,test}/**', 'tools/*/**/!(home).md', 'editor/*/**'];

/**
 * The path in the site of a page of the repository. A folder's `README.md` is its index.
 * @param path from the root, such as `docs/start/README.md`
 * @returns such as `start/index.md`; `undefined` for a file that is no page of the site
 */
export function sitePage(path: string): string | undefined {
  if (!path.endsWith('.md')) return undefined;
  if (path === 'docs/README.md') return 'contents.md';
  if (path.startsWith('docs/')) return path.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md');
  return others[path];
}

/**
 * The address in the site that a link of a page leads to.
 * @param page the page with the link, as a path from the root
 * @param target as it is written, such as `../reference/errors.md#errors-of-runs`
 * @returns an address from the root of the site; `undefined` for a link that stays as it is
 * @throws Error for a link to a file that is no page of the site
 */
export function siteLink(page: string, target: string): string | undefined {
  if (/^(?:[a-z]+:|#)/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = join(page, '..', path);
  // Browsers show a file with this ending as it is.
  if (file === 'LICENSE') return '/LICENSE.txt';
  const found = sitePage(file);
  if (!found || !existsSync(root + file)) {
    throw new Error(`${page} links to ${target}, which is no page of the site`);
  }
  return `/${found.replace(/(?:(^|\/)index)?\.md$/, '$1')}${anchor ? `#${anchor}` : ''}`;
}

export interface SidebarItem {
  text: string;
  link?: string;
  items?: SidebarItem[];
}

/**
 * The sidebars, by the folder of the page beside them. They are the table of contents in `docs/README.md`: a group for each
 * entry at its left margin.
 */
export function sidebars(): Record<string, SidebarItem[]> {
  const groups = contents();
  const own = groups.map((group): [string, SidebarItem[]] => [group.items?.[0]?.link ?? '/', [group]]);
  return { ...Object.fromEntries(own), '/': groups };
}

function contents(): SidebarItem[] {
  const page = 'docs/README.md';
  const groups: SidebarItem[] = [];
  for (const line of readFileSync(root + page, 'utf8').split('\n')) {
    const links = Array.from(line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g), ([, text = '', target = '']) => ({
      text: text.replaceAll('`', '').replaceAll('<', '&lt;'),
      link: siteLink(page, target) ?? target,
    }));
    const [first] = links;
    if (!first) continue;
    if (line.startsWith('- ')) {
      groups.push({ text: first.text, items: [{ ...first, text: 'Overview' }] });
      links.shift();
    }
    groups.at(-1)?.items?.push(...links);
  }
  return groups;
}
