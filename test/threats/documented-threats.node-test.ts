import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
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

/** The names of the tests and suites of a file; one that is put together is as it is written. */
function namesIn(file: string): Set<string> {
  const code = readFileSync(root + file, 'utf8');
  const names = new Set<string>();
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type !== 'Identifier' || !['test', 'it', 'describe'].includes(callee.name) || !first) return;
      if (first.type === 'Literal') names.add(String(first.value));
      if (first.type === 'TemplateLiteral') names.add(code.slice(first.start + 1, first.end - 1));
    },
  }).visit(parseSync(file, code).program);
  return names;
}

test('every documented threat has a defence, and a test that there is', () => {
  const threats = readThreats();
  // As many as the security review asks about.
  assert.ok(threats.length >= 22, `${threats.length} threats`);
  const lacking: string[] = [];
  for (const { threat, defence, tests } of threats) {
    if (!threat || !defence || !tests.length) lacking.push(`${threat}: no defence or no test`);
    for (const { file, name } of tests) {
      if (!existsSync(root + file)) lacking.push(`${threat}: there is no file ${file}`);
      else if (!namesIn(file).has(name)) lacking.push(`${threat}: there is no test "${name}" in ${file}`);
    }
  }
  assert.deepEqual(lacking, []);
});
