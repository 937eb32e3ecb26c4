/**
 * Part of `npm run build`: in the declarations that the compiler wrote into dist/, makes `./x.ts` `./x.js`, the name of
 * the file that is published. The compiler leaves these as they are in the source, and TypeScript before 7 refuses them.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';

/** `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`. */
const SPECIFIER = /(?<=\b(?:from |import |import\()(['"])\.{1,2}\/[^'"]*)\.tsx?(?=\1)/g;

for (const file of globSync('dist/**/*.d.ts')) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(SPECIFIER, '.js'));
}
