/**
 * npm runs this before and after packing: `pack` replaces the repository's README by the package's, because npm packs no other
 * file as the README, and `restore` brings it back. After an interrupted packing, the next `pack` or `restore` does.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isPackedBy, toPackedReadme } from './packed-readme.ts';

const README = 'README.md';
/** Where the repository's README is kept meanwhile. npm packs nothing in this folder. */
const KEPT = 'node_modules/.plugin-editor-readme.md';

const isPacked = isPackedBy(JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] });

const [step] = process.argv.slice(2);
if (step !== 'pack' && step !== 'restore') {
  console.error('Usage: node tools/run.js tools/release/readme.ts pack | restore');
  process.exit(2);
}

restore();
if (step === 'pack') {
  const text = readFileSync(README, 'utf8');
  writeFileSync(KEPT, text);
  writeFileSync(README, toPackedReadme(text, isPacked));
}

/** A README that was changed after an interrupted packing is left as it is. */
function restore(): void {
  if (!existsSync(KEPT)) return;
  const original = readFileSync(KEPT, 'utf8');
  if (readFileSync(README, 'utf8') === toPackedReadme(original, isPacked)) writeFileSync(README, original);
  rmSync(KEPT);
}
