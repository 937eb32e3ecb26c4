import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packed } from './fixture.ts';

test('every link and picture of the packed README leads to a file of the package, and packing leaves the README unchanged', async () => {
  const readme = await readFile(join(packed.installed, 'README.md'), 'utf8');
  const prose = readme.replace(/^```.*?^```$/gms, '');
  const targets = [
    ...[...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target),
    ...[...prose.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)].map(([, target = '']) => target),
  ].filter((target) => !/^[a-z]+:/.test(target));
  assert.deepEqual(
    targets.filter((target) => !target.startsWith('#') && !packed.files.includes(target)),
    [],
  );
  assert.ok(targets.includes('LICENSE'));
  // A link of the original becomes the path in the repository.
  assert.match(readme, /React \(`docs\/start\/react\.md`\)/);
  const own = packed.readmeAfter;
  assert.match(own, /\[React\]\(docs\/start\/react\.md\)/);
  // The code blocks stay the same.
  const codeOf = (text: string) => text.match(/^```.*?^```$/gms);
  assert.deepEqual(codeOf(readme), codeOf(own));
});
