/**
 * `npm run generate` writes the generated files that are committed; with `--check` it fails where they differ, and writes nothing.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { committedFiles } from './outputs.ts';

const check = process.argv.includes('--check');

const differing: string[] = [];
for (const [path, text] of await committedFiles()) {
  if (readOr(path) === text) continue;
  differing.push(path);
  if (check) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

if (check && differing.length > 0) {
  console.error(`${differing.join(', ')}: out of date. Generate anew with: npm run generate`);
  process.exitCode = 1;
} else {
  for (const path of differing) console.log(`Wrote ${path}`);
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
