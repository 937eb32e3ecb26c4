import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { anchors, blocks, root } from './markdown.ts';

// The pages in the repository. `readme.node-test.ts` has tests of the README alone.

const folder = fileURLToPath(root);
const read = (path: string) => readFileSync(folder + path, 'utf8');
const pages = globSync('{docs/**/*.md,*.md,{demo,editor,service}/README.md}', { cwd: folder })
  .map((path) => path.replaceAll('\\', '/'))
  .toSorted();

const withoutCode = (text: string) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');

/** The links of a page to other files, as paths from the root, with what follows `#`. */
const linksOf = (page: string) =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { target, path: path === '' ? page : join(dirname(page), path), anchor };
    });

test('every link of a page leads to a file, and every anchor to a heading', () => {
  assert.ok(pages.length > 15);
  const wrong: string[] = [];
  for (const page of pages) {
    for (const { target, path, anchor } of linksOf(page)) {
      const found = existsSync(folder + path);
      if (!found || (anchor !== undefined && !anchors(read(path)).includes(anchor)))
        wrong.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('the README of the service, which a registry shows alone, links to nothing outside its package', () => {
  const packed = ['service/README.md', 'service/LICENSE', 'service/package.json'];
  const outside = linksOf('service/README.md').filter(({ path }) => !packed.includes(path));
  assert.deepEqual(outside, []);
});

test('the table of contents leads to every page of the documentation', () => {
  const listed = linksOf('docs/README.md')
    .map(({ path }) => path)
    .filter((path) => path.startsWith('docs/'));
  const own = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  assert.deepEqual(listed.toSorted(), own);
});

test('no page has a heading twice, so that each has a URL of its own', () => {
  const twice = pages
    .filter((page) => page !== 'CHANGELOG.md')
    .flatMap((page) => {
      const ids = anchors(read(page));
      return ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${page}#${id}`);
    });
  assert.deepEqual(twice, []);
});

test('every block of code has a name of its own, by which a test runs it', () => {
  const tests = readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
    .join('\n');
  const named = blocks.filter((block) => !['sh', 'text', 'http', 'mermaid'].includes(block.language));
  for (const { language, name, code } of named) {
    assert.ok(name, `a block of ${language} without a name: ${code.slice(0, 80)}`);
    assert.ok(tests.includes(`'${name}'`), `${name} is in no test`);
  }
  assert.equal(new Set(named.map(({ name }) => name)).size, named.length);
});

test('every folder, file and script that a page names exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const wrong: string[] = [];
  // The changelog may name what no longer exists.
  for (const page of pages.filter((path) => path !== 'CHANGELOG.md')) {
    const text = read(page);
    for (const [, path = ''] of text.matchAll(
      /`((?:src|service|editor|demo|docs|tools|test)(?:\/[\w.-]+)+)`/g,
    )) {
      // The output of a build may not exist yet.
      if (!path.includes('/dist') && !existsSync(folder + path)) wrong.push(`${page}: ${path}`);
    }
    for (const [, name = ''] of text.matchAll(/\bnpm run (?:--\S+ )*([\w:-]+)/g)) {
      if (!scripts[name]) wrong.push(`${page}: npm run ${name}`);
    }
    for (const [, file = ''] of text.matchAll(/\bnode (?:tools\/run\.js )?([\w/-]+\.[jt]s)\b/g)) {
      if (file.includes('/') && !existsSync(folder + file)) wrong.push(`${page}: node ${file}`);
    }
  }
  assert.deepEqual(wrong, []);
});
