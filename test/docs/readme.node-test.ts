import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { anchors, readme, root } from './markdown.ts';

const prose = readme.replace(/^```.*?^```$/gms, '');

/** All targets of the README: of links, pictures, and `src` and `srcset` in its HTML. */
const targets = [
  ...[...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target),
  ...[...prose.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)].map(([, target = '']) => target),
];

test('the README has at most 12 KB', () => {
  assert.ok(Buffer.byteLength(readme) <= 12_000);
});

test('every relative link of the README leads to a file, and every anchor to a heading', () => {
  assert.ok(targets.length > 30 && targets.includes('LICENSE'));
  for (const target of targets.filter((one) => !/^https?:/.test(one))) {
    const [path = '', anchor] = target.split('#');
    assert.ok(path === '' || existsSync(new URL(path, root)), `${target}: there is no such file`);
    if (anchor === undefined) continue;
    const text = path === '' ? readme : readFileSync(new URL(path, root), 'utf8');
    assert.ok(anchors(text).includes(anchor), `${target}: there is no such heading`);
  }
});

test('the README describes its commands as package.json defines them', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = new Set(
    [...readme.matchAll(/npm (?:run (?:--\S+ )*)?(start|test|(?<=run .*)[\w:-]+)/g)].map(([, name]) => name),
  );
  assert.ok(named.has('start') && named.has('test'));
  assert.deepEqual(
    [...named].filter((name) => !scripts[name as string]),
    [],
  );
});

test('the pictures of the README are small', () => {
  for (const theme of ['light', 'dark'])
    assert.ok(statSync(new URL(`test/docs/picture-${theme}.webp`, root)).size < 100_000, theme);
});
