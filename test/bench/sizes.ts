import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { bundle } from './bundle.ts';
import { type Figure, show } from './figures.ts';

const KB = 1000;

/** What a bundle of each gains on the one before, so that what they share is counted once. */
const STEPS = [
  ['lit', `export { LitElement, css, html, nothing } from 'lit';`],
  ['token and request', `export { getToken } from '/src/core/token.ts';`],
  ['<plugin-editor>', `export * from '/src/plugin-editor.ts';`],
  ['<plugin-features>', `export * from '/src/plugin-features.ts';`],
] as const;

/** What an application pays for one part, and the limit in KB. The two elements are bundled by the build itself. */
const PARTS = [
  ['client.js alone, with zod/mini, gzip', `export * from '/src/client.ts';`, 11.5],
  ['<plugin-features> alone, gzip', `export * from '/src/plugin-features.ts';`, 13.5],
  ['editor.js alone, gzip', `export * from '/src/editor.ts';`, 2.2],
  ['testing.js alone, gzip', `export * from '/dist/testing.js';`, 6],
] as const;

/** Prints what weighs what, and measures the script-tag file and each part by itself. */
export async function measureSizes(): Promise<Figure[]> {
  console.log('\nWhat weighs what, gzip, each on top of those before');
  let before = 0;
  for (const [index, [name]] of STEPS.entries()) {
    const code = STEPS.slice(0, index + 1).map(([, line]) => line);
    const size = await bundleSize(code.join('\n'));
    printSize(name, size - before);
    before = size;
  }
  const whole = gzipSync(readFileSync('dist/cdn/plugin-editor.js'), { level: 9 }).length;
  const figures: Figure[] = [
    { name: 'both elements: dist/cdn/plugin-editor.js, gzip', value: whole / KB, limit: 22, unit: 'KB' },
  ];
  for (const [name, code, limit] of PARTS) {
    figures.push({ name, value: (await bundleSize(code)) / KB, limit, unit: 'KB' });
  }
  return figures;
}

const printSize = (name: string, size: number) =>
  console.log(`  ${name.padEnd(32)} ${show(size / KB).padStart(6)} KB`);

async function bundleSize(code: string): Promise<number> {
  const entry = `${process.cwd()}/bench-entry.ts`;
  const virtual = {
    name: 'entry',
    enforce: 'pre' as const,
    resolveId: (id: string) => (id === entry ? id : undefined),
    load: (id: string) => (id === entry ? code : undefined),
  };
  return gzipSync(await bundle(entry, [virtual]), { level: 9 }).length;
}
