/**
 * The README as the package holds it. A registry shows it, and people read it in node_modules, without the repository around
 * it: there a link to a page of `docs` is dead, and a picture is a broken image. So links to files that are not packed become
 * their text and the file's path in the repository, and such pictures go. What is packed, anchors and whole addresses stay.
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
  // Every other part is a block of code, which stays as it is.
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
