/**
 * Adapts the README to the package. Registries show it without the repository around it, where links to pages of `docs` and
 * pictures would be broken. So a link to a file that is not packed becomes its text and the file's path in the repository, and
 * such a picture is removed. Links to packed files, to anchors and to other sites stay.
 */
export function toPackedReadme(markdown: string, isPacked: (path: string) => boolean): string {
  const leadsOutside = (target: string) =>
    !/^(?:[a-z][a-z\d+.-]*:|#)/i.test(target) && !isPacked(target.replace(/#.*/, ''));
  const withoutLinks = (prose: string) =>
    prose
      .replace(/<picture>.*?src="([^"]+)".*?<\/picture>\n\n?/gs, (picture, src: string) =>
        leadsOutside(src) ? '' : picture,
      )
      .replace(/!\[[^\]]*\]\(([^)\s]+)\)\n*/g, (image, src: string) => (leadsOutside(src) ? '' : image))
      .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, text: string, target: string) =>
        leadsOutside(target) ? `${text} (\`${target.replace(/#.*/, '')}\`)` : link,
      );
  // Every second part is a block of code, which stays unchanged.
  return markdown
    .split(/^(```.*?^```$)/ms)
    .map((part, at) => (at % 2 === 0 ? withoutLinks(part) : part))
    .join('');
}

/** Whether a file is in the package: npm always packs the first three, and what `files` of package.json names. */
export const isPackedBy =
  ({ files }: { files: readonly string[] }) =>
  (path: string): boolean =>
    ['README.md', 'LICENSE', 'package.json', ...files].some(
      (one) => path === one || path.startsWith(`${one}/`),
    );
