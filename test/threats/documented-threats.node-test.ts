import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Visitor, parseSync } from 'oxc-parser';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The threats as documented: what, defence, and the tests by file and name. */
function readThreats(): { threat: string; defence: string; tests: { file: string; name: string }[] }[] {
  const page = readFileSync(`${root}docs/security/threats.md`, 'utf8');
  const [, , ...rows] = page.split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) => {
    const [threat = '', defence = '', tests = ''] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return {
      threat,
      defence,
      tests: tests.split('<br>').map((one) => {
        const [, file = '', name = ''] = /^`(test\/[\w./-]+)`: (.+)$/.exec(one) ?? [];
        return { file, name };
      }),
    };
  });
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/**
 * The names of the tests and suites of a file, alone and after those of the suites around them, as they read together. A part
 * that is put in while the test is made is a group.
 */
function namesIn(file: string): RegExp[] {
  const code = readFileSync(root + file, 'utf8');
  const found: { name: string; start: number; end: number }[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [first], start, end }) {
      if (callee.type !== 'Identifier' || !['test', 'it', 'describe'].includes(callee.name) || !first) return;
      if (first.type === 'Literal') found.push({ name: escaped(String(first.value)), start, end });
      if (first.type === 'TemplateLiteral') {
        const parts = first.quasis.map(({ value }) => escaped(value.cooked ?? ''));
        found.push({ name: parts.join('(.+)'), start, end });
      }
    },
  }).visit(parseSync(file, code).program);
  return found.flatMap((one) => {
    const suites = found.filter(({ start, end }) => start < one.start && end >= one.end);
    const whole = [...suites, one].map(({ name }) => name).join('[:,]? ');
    return [new RegExp(`^${one.name}$`), new RegExp(`^${whole}$`)];
  });
}

const knownNames = new Map<string, RegExp[]>();

/** Whether a file has a test of this name. What is put into a name has to be in the file, or in one that it imports. */
function hasTest(file: string, name: string): boolean {
  const code = readFileSync(root + file, 'utf8');
  const imports = [...code.matchAll(/ from '(\.[^']+\.ts)'/g)].map(([, path = '']) =>
    readFileSync(join(root, dirname(file), path), 'utf8'),
  );
  const isMade = (part: string) => [code, ...imports].some((text) => text.includes(part.replaceAll('"', '')));
  const names = knownNames.get(file) ?? namesIn(file);
  knownNames.set(file, names);
  return names.some((one) => one.exec(name)?.slice(1).every(isMade));
}

test('every documented threat has a defence, and a test that exists', () => {
  const threats = readThreats();
  // As many as the security review asks about.
  assert.ok(threats.length >= 22, `${threats.length} threats`);
  const lacking: string[] = [];
  for (const { threat, defence, tests } of threats) {
    if (!threat || !defence || !tests.length) lacking.push(`${threat}: no defence or no test`);
    for (const { file, name } of tests) {
      if (!existsSync(root + file)) lacking.push(`${threat}: there is no file ${file}`);
      else if (!hasTest(file, name)) lacking.push(`${threat}: there is no test "${name}" in ${file}`);
    }
  }
  assert.deepEqual(lacking, []);
});
