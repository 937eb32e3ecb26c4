/**
 * The text of `llms.txt` (https://llmstxt.org): a list of the documentation's pages, each with its first sentence, for programs.
 * @param read returns the text of a page, by its path from the root
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

/** The first sentence of a page, which has to say what the page is about. */
function firstSentence(path: string, page: string): string {
  const [, first = ''] = /^# .+\n\n(?:<!-- .* -->\n\n)?([^]*?)\n\n/m.exec(page) ?? [];
  const [sentence] = /^[\w`<[(*][^]*?[.:](?=\s|$)/.exec(plain(first)) ?? [];
  if (!sentence)
    throw new Error(
      `${path} must begin with a sentence that says what it is about, and ends in a period or a colon.`,
    );
  return sentence.slice(0, -1);
}

/** A text without line breaks, links and bold type. */
const plain = (text: string) =>
  text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '');
