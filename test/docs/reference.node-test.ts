import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { errorCodes } from '../../service/src/http/error-codes.ts';
import { read, root } from './markdown.ts';

// The pages of docs/reference agree with the sources.

const errorsPage = read('docs/reference/errors.md');

/** The codes in a source file, found by what precedes each. */
const codesIn = (path: string, before: RegExp): string[] => {
  const text = read(path);
  return [...text.matchAll(new RegExp(`${before.source}'([a-z-]+)'`, 'g'))].map(([, code = '']) => code);
};

test('the reference explains every error code, and no others', () => {
  const explained = [...errorsPage.matchAll(/^\| (?:\d+ +\| )?`([a-z-]+)`/gm)].map(([, code = '']) => code);
  const server = readdirSync(new URL('src/server/', root)).flatMap((file) =>
    codesIn(`src/server/${file}`, /Refusal\(\s*\d+,\s*/),
  );
  const element = codesIn('src/core/errors.ts', /\| /);
  assert.ok(server.length > 5 && element.length > 5);
  assert.deepEqual(new Set(explained), new Set([...element, ...server]));

  const classes = [...errorsPage.matchAll(/^\| `(\w+Error)`/gm)].map(([, name]) => name);
  const errors = read('src/core/errors.ts');
  const thrown = [...errors.matchAll(/class (\w+) extends RequestError/g)].map(([, name]) => name);
  assert.deepEqual(new Set(classes), new Set([...thrown, 'RunError', 'TypeError']));
});

test('the reference explains every code that a run can end with', () => {
  const section = /^## Errors of runs$.*/ms.exec(errorsPage)?.[0] ?? '';
  const codes = Object.keys(errorCodes).filter((code) =>
    /^(?:plugin-error|runner-crashed|.*-limit)$/.test(code),
  );
  assert.ok(codes.length > 6);
  assert.deepEqual(
    codes.filter((code) => !section.includes(`\`${code}\``)),
    [],
  );
});

const reference = read('docs/reference/modules.md');

for (const module of ['client', 'server', 'editor'])
  test(`the reference of ${module}.js names all its exports`, async () => {
    const own = new RegExp(`## plugin-editor/${module}\\.js\n.*?(?=\n## |$)`, 's').exec(reference)?.[0] ?? '';
    const exported = Object.keys((await import(new URL(`src/${module}.ts`, root).href)) as object);
    assert.ok(exported.length > 0);
    for (const name of exported) assert.match(own, new RegExp(`\`(?:class |const )?${name}\\b`), name);
  });

test('the reference of modules shows the fields of every record', () => {
  assert.doesNotMatch(reference, /z\.output</);
});

test('the reference of operations shows bounds, inner fields and alternatives of records', () => {
  const operations = read('docs/reference/operations.md');
  for (const row of [
    '| `expires_in?` | integer (60 to 86,400) |',
    '| `message?` | string (at most 500 characters) |',
    '| `draft.revision` | string |',
    '| `tokens[].endsAt?` | string (ISO 8601) |',
    '| `credential?` | { type: "header"; header: string;',
  ])
    assert.ok(operations.includes(row), row);
});
