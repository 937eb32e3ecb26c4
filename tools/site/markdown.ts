import { relative } from 'node:path';
import { root, siteLink } from './pages.ts';
import { sequenceDiagram } from './sequence-diagram.ts';

// The types of the parts of markdown-it that are used here, because the site's packages are only installed to build it.

export interface Token {
  type: string;
  content: string;
  info: string;
  children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

type Rule = (tokens: Token[], index: number, ...rest: unknown[]) => string;

export interface MarkdownIt {
  core: { ruler: { push(name: string, rule: (state: { tokens: Token[]; env: unknown }) => void): void } };
  renderer: { rules: Record<string, Rule | undefined> };
}

/** Makes the links, pictures, diagrams and file names of the repository's pages work in the site. */
export function extendMarkdown(md: MarkdownIt): void {
  md.core.ruler.push('repository_links', ({ tokens, env }) => {
    // VitePress renders a page once more for the search, with only `path`.
    const { path, realPath = path } = env as { path?: string; realPath?: string };
    // A title of the front matter, which has no page and no links.
    if (realPath === undefined) return;
    const page = relative(root, realPath).replaceAll('\\', '/');
    for (const token of tokens.flatMap((one) => [one, ...(one.children ?? [])])) {
      const target = token.type === 'link_open' ? token.attrGet('href') : null;
      const link = target === null ? undefined : siteLink(page, target);
      if (link !== undefined) token.attrSet('href', link);
      if (token.type === 'html_block') token.content = siteHtml(token.content);
    }
  });

  const fence = md.renderer.rules['fence'];
  if (!fence) throw new Error('VitePress renders no blocks of code.');
  md.renderer.rules['fence'] = (tokens, index, ...rest) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    const [language, name] = info.split(' ');
    if (language === 'mermaid') {
      return `<figure class="diagram" v-pre tabindex="0">${sequenceDiagram(content, headingBefore(tokens, index))}</figure>`;
    }
    const block = fence(tokens, index, ...rest);
    return name ? `<div class="file-name" v-pre>${name}</div>${block}` : block;
  };
}

/** The comment `<!-- live: name -->` is where an element runs in the site. GitHub shows nothing there. */
const siteHtml = (html: string) =>
  html
    .replace(/<!-- live: ([\w-]+) -->/, '<LiveElement name="$1" />')
    // Vue resolves only addresses that begin with a period.
    .replaceAll(/\b(src|srcset)="(?=\w)(?!https?:)/g, '$1="./');

function headingBefore(tokens: Token[], index: number): string {
  const at = tokens.findLastIndex(({ type }, i) => i < index && type === 'heading_open');
  return tokens[at + 1]?.content ?? '';
}
