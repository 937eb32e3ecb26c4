/**
 * npm runs this before and after packing: `pack` replaces the repository's README by the package's, because npm packs no other
 * file as the README, and `restore` brings it back. After an interrupted packing, the next `pack` or `restore` does.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const README = 'README.md';
/** Where the repository's README is kept meanwhile. npm packs nothing in this folder. */
const KEPT = 'node_modules/.plugin-editor-readme.md';

const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
/** npm always packs these three, and what `files` of package.json names. */
const packed = ['README.md', 'LICENSE', 'package.json', ...files];

const [step] = process.argv.slice(2);
if (step !== 'pack' && step !== 'restore') {
  console.error('Usage: node tools/run.js tools/release/readme.ts pack | restore');
  process.exit(2);
}

restore();
if (step === 'pack') {
  const text = readFileSync(README, 'utf8');
  writeFileSync(KEPT, text);
  writeFileSync(README, toPackedReadme(text));
}

/** A README that was changed after an interrupted packing is left as it is. */
function restore(): void {
  if (!existsSync(KEPT)) return;
  const original = readFileSync(KEPT, 'utf8');
  if (readFileSync(README, 'utf8') === toPackedReadme(original)) writeFileSync(README, original);
  rmSync(KEPT);
}

/**
 * Adapts the README to the package. Registries show it without the repository around it, where links to pages of `docs` and
 * pictures would be broken. So a link to a file that is not packed becomes its text and the file's path in the repository, and
 * such a picture is removed. Links to packed files, to anchors and to other sites stay.
 */
function toPackedReadme(markdown: string): string {
  const isPacked = (path: string) => packed.some((one) => path === one || path.startsWith(`${one}/`));
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
