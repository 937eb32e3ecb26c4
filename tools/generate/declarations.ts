/**
 * Part of `npm run build`: readies the declarations that the compiler wrote into dist/. `./x.ts` becomes `./x.js`, the name
 * of the file that is published: the compiler leaves it as it is in the source, and TypeScript before 7 refuses it. What
 * no entry of the package leads to is not published.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`. */
const SPECIFIER = /(?<=\b(?:from |import |import\()(['"]))(\.{1,2}\/[^'"]*)\.tsx?(?=\1)/g;

const reached = new Set<string>();

function reach(file: string): void {
  if (reached.has(file)) return;
  reached.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, , path = ''] of text.matchAll(SPECIFIER)) reach(resolve(file, '..', `${path}.d.ts`));
  writeFileSync(file, text.replace(SPECIFIER, '$2.js'));
}

for (const entry of globSync('dist/{*,types/*}.d.ts')) reach(resolve(entry));
for (const file of globSync('dist/**/*.d.ts')) if (!reached.has(resolve(file))) rmSync(file);
