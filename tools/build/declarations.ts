import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`. */
const SPECIFIER = /(?<=\b(?:from |import |import\()(['"]))(\.{1,2}\/[^'"]*)\.tsx?(?=\1)/g;

/** The compiler indents by four spaces, which would be a tenth of the published declarations. */
const withTabs = (text: string) => text.replace(/^(?: {4})+/gm, (indent) => '\t'.repeat(indent.length / 4));

/**
 * Prepares the declarations in a package's `dist` for publishing. An import of `./x.ts` becomes one of `./x.js`, the file that
 * is published: the compiler leaves imports as they are in the sources, and TypeScript before version 7 refuses those.
 * Declarations that no entry imports, directly or not, are removed.
 * @param folder absolute
 * @param entries a glob, relative to `folder`, for the declarations that the package's export map names
 */
export function prepareDeclarations(folder: string, entries: string): void {
  const reached = new Set<string>();
  const reach = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, , path = ''] of text.matchAll(SPECIFIER)) reach(resolve(file, '..', `${path}.d.ts`));
    writeFileSync(file, withTabs(text.replace(SPECIFIER, '$2.js')));
  };
  for (const entry of globSync(entries, { cwd: folder })) reach(resolve(folder, entry));
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const path = resolve(folder, file);
    if (!reached.has(path)) rmSync(path);
  }
}
