import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { errorCodes } from '../../service/src/http/error-codes.ts';
import { anchors, blocks, readme, root } from './readme.ts';

const prose = readme.replace(/^```.*?^```$/gms, '');

/** All that the README points to: links, pictures, and `src` and `srcset` of its HTML. */
const targets = [
  ...[...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target),
  ...[...prose.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)].map(([, target = '']) => target),
];

test('every relative link leads to a file, and every anchor to a heading', () => {
  assert.ok(targets.some((target) => target.startsWith('#')) && targets.includes('LICENSE'));
  for (const target of targets.filter((one) => !/^https?:/.test(one))) {
    const [path = '', anchor] = target.split('#');
    assert.ok(path === '' || existsSync(new URL(path, root)), `${target}: there is no such file`);
    if (anchor === undefined) continue;
    const text = path === '' ? readme : readFileSync(new URL(path, root), 'utf8');
    assert.ok(anchors(text).includes(anchor), `${target}: there is no such heading`);
  }
});

test('no heading comes twice, so that each has one address', () => {
  const ids = anchors(readme);
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
});

test('every section is in the table of contents', () => {
  const listed = [...prose.matchAll(/^- \[[^\]]+\]\(#([^)]+)\)/gm)].map(([, id = '']) => id);
  const sections = anchors(prose.match(/^## .+$/gm)?.join('\n') ?? '');
  assert.deepEqual(listed, sections);
});

test('every block of code has a name, by which a test runs it', () => {
  const tests = readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
    .join('\n');
  for (const { language, name, code } of blocks.filter(
    (block) => !['sh', 'text', 'http'].includes(block.language),
  )) {
    assert.ok(name, `a block of ${language} without a name: ${code.slice(0, 80)}`);
    assert.ok(tests.includes(`'${name}'`), `${name} is in no test`);
  }
});

test('what the README says of its commands is what package.json has', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = new Set(
    [...readme.matchAll(/npm (?:run )?(start|test|(?<=run )[\w:-]+)/g)].map(([, name]) => name),
  );
  assert.ok(named.has('start') && named.has('test'));
  assert.deepEqual(
    [...named].filter((name) => !scripts[name as string]),
    [],
  );
});

/** Codes as a source file has them, by what stands before each. */
const codesIn = (path: string, before: RegExp): string[] => {
  const text = readFileSync(new URL(path, root), 'utf8');
  return [...text.matchAll(new RegExp(`${before.source}'([a-z-]+)'`, 'g'))].map(([, code = '']) => code);
};

test('every error code is explained, and none that there is not', () => {
  const section = /^## What goes wrong$.*?^## /ms.exec(readme)?.[0] ?? '';
  const explained = [...section.matchAll(/^\| (?:\d+ +\| )?`([a-z-]+)`/gm)].map(([, code = '']) => code);
  const server = readdirSync(new URL('src/server/', root)).flatMap((file) =>
    codesIn(`src/server/${file}`, /Refusal\(\s*\d+,\s*/),
  );
  const element = codesIn('src/core/errors.ts', /\| /);
  assert.ok(server.length > 5 && element.length > 5);
  assert.deepEqual(new Set(explained), new Set([...element, ...server]));

  const classes = [...section.matchAll(/^\| `(\w+Error)`/gm)].map(([, name]) => name);
  const errors = readFileSync(new URL('src/core/errors.ts', root), 'utf8');
  const thrown = [...errors.matchAll(/class (\w+) extends RequestError/g)].map(([, name]) => name);
  assert.deepEqual(new Set(classes), new Set([...thrown, 'RunError', 'TypeError']));
});

test('every code that a run can end with is explained', () => {
  const section = /^What `ExecutionClient` rejects with.*?^The clients reject/ms.exec(readme)?.[0] ?? '';
  const codes = Object.keys(errorCodes).filter((code) =>
    /^(?:plugin-error|runner-crashed|.*-limit)$/.test(code),
  );
  assert.ok(codes.length > 6);
  assert.deepEqual(
    codes.filter((code) => !section.includes(`\`${code}\``)),
    [],
  );
});

const reference = readFileSync(new URL('docs/reference/modules.md', root), 'utf8');

for (const module of ['client', 'server', 'editor'])
  test(`the reference of ${module}.js names all that it exports`, async () => {
    const own = new RegExp(`## plugin-editor/${module}\\.js\n.*?(?=\n## |$)`, 's').exec(reference)?.[0] ?? '';
    const exported = Object.keys((await import(new URL(`src/${module}.ts`, root).href)) as object);
    assert.ok(exported.length > 0);
    for (const name of exported) assert.match(own, new RegExp(`\`(?:class |const )?${name}\\b`), name);
  });

test('the pictures are small', () => {
  for (const theme of ['light', 'dark'])
    assert.ok(statSync(new URL(`test/docs/picture-${theme}.webp`, root)).size < 100_000, theme);
});
