/**
 * Part of `npm run check`: builds the scripts of dist/cdn in a temporary folder, and fails when a script tag in the README or in
 * a page of docs/start has another hash or version. With `--write` it corrects them.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';

/** A release: its version, and the hash of each file by name, as in `integrity.json`. */
export interface Release {
  version: string;
  files: Record<string, string>;
}

/**
 * Replaces the hashes, and the versions, in the script tags of a text that load a file of the release and have an `integrity`, such
 * as `<script src="https://cdn.example/plugin-editor@0.2.0/dist/cdn/plugin-editor.js" integrity="sha384-…">`.
 */
export const withHashes = (text: string, { version, files }: Release): string =>
  text.replace(/<script\b[^>]*>/g, (tag) => {
    const [, file = ''] = /\bsrc="[^"]*?([^"/]+)"/.exec(tag) ?? [];
    const hash = files[file];
    if (!hash || !/\bintegrity="/.test(tag)) return tag;
    return tag
      .replace(/\bintegrity="[^"]*"/, `integrity="${hash}"`)
      .replace(/\bplugin-editor@[^/"]+/, `plugin-editor@${version}`);
  });

if (import.meta.main) {
  const outDir = mkdtempSync(join(tmpdir(), 'plugin-editor-integrity-'));
  try {
    await build({ mode: 'cdn', logLevel: 'error', build: { outDir, emptyOutDir: true } });
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
}
