/**
 * `llms.txt` (https://llmstxt.org): the pages of the documentation with what each is about, for programs that read them.
 * @param read the text of a page by its path from the root
 */
export function llmsText(read: (path: string) => string): string {
  const lines = [
    '# plugin-editor',
    '',
    `> ${firstSentence('README.md', read('README.md'))}.`,
    '',
    'All pages are Markdown. Paths are from the root of the repository.',
    '',
    '- [README](README.md): what a plugin is, the two commands, and a page and an endpoint that work when copied',
  ];
  for (const line of read('docs/README.md').split('\n')) {
    for (const [link, title = '', target = ''] of line.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)) {
      const path = target.startsWith('../') ? target.slice(3) : `docs/${target}`;
      if (line.startsWith(`- ${link}`)) lines.push('', `## ${title}`, '');
      lines.push(`- [${titleOf(read(path))}](${path}): ${firstSentence(path, read(path))}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

const titleOf = (page: string) => /^# (.+)$/m.exec(page)?.[1] ?? '';

/** Every page begins with a sentence that says what it is about. */
function firstSentence(path: string, page: string): string {
  const [, first = ''] = /^# .+\n\n(?:<!-- .* -->\n\n)?([^]*?)\n\n/m.exec(page) ?? [];
  const [sentence] = /^[\w`<[(*][^]*?[.:](?=\s|$)/.exec(plain(first)) ?? [];
  if (!sentence) throw new Error(`${path} does not begin with a sentence that says what it is about`);
  return sentence.slice(0, -1);
}

/** Without line breaks and links. */
const plain = (text: string) =>
  text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '');
