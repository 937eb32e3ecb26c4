/**
 * Part of `npm run check`: builds the scripts of dist/cdn in a temporary folder, and fails when a script tag in the README or in
 * a page of docs/start has another hash or version. With `--write` it corrects them.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { type Release, withHashes } from './script-snippets.ts';

const outDir = mkdtempSync(join(tmpdir(), 'plugin-editor-integrity-'));
try {
  for (const mode of ['cdn', 'iife']) await build({ mode, logLevel: 'error', build: { outDir } });
  const release = JSON.parse(readFileSync(join(outDir, 'integrity.json'), 'utf8')) as Release;
  for (const page of ['README.md', ...globSync('docs/start/*.md')]) {
    const text = readFileSync(page, 'utf8');
    const updated = withHashes(text, release);
    if (updated === text) continue;
    if (process.argv.includes('--write')) {
      writeFileSync(page, updated);
      continue;
    }
    console.error(
      `${page}: a script tag has the hash or version of another build; node tools/run.js tools/generate/readme-integrity.ts --write puts the right ones there`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(outDir, { recursive: true });
}
