import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { root } from '../../tools/run-node.js';

/** What `npm run check -- generated` says after a change of the text of `<plugin-editor>`, in a copy of the repository. */
async function checkAfter(t: TestContext, change: (text: string) => string) {
  const copy = await mkdtemp(join(tmpdir(), 'plugin-editor-generate-'));
  t.after(() => rm(copy, { recursive: true }));
  for (const path of [
    'src',
    'docs',
    'service/src',
    'service/package.json',
    'editor/src/code/python-library.json',
    'README.md',
    'SECURITY.md',
    'llms.txt',
    '.prettierrc',
  ])
    await cp(join(root, path), join(copy, path), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const changed = join(copy, 'src/element/plugin-editor.ts');
  const text = await readFile(changed, 'utf8');
  assert.notEqual(change(text), text);
  await writeFile(changed, change(text));
  return spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(root, 'tools/generate/run.ts'), '--check'],
    { cwd: copy, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  );
}

test('the check names outdated generated files and the command that updates them', async (t) => {
  const { status, stderr } = await checkAfter(t, (text) =>
    text.replace('Namespace of the plugin', 'The namespace'),
  );
  assert.equal(status, 1);
  assert.match(stderr, /^src\/types\/attributes\.d\.ts, docs\/reference\/plugin-editor\.md: /);
  assert.match(stderr, /npm run generate/);
});

test('an attribute without a doc comment is refused, by its name', async (t) => {
  const { status, stderr } = await checkAfter(t, (text) =>
    text.replace(/ *\/\*\*.*\*\/\n(?= *declare label)/, ''),
  );
  assert.equal(status, 1);
  assert.match(stderr, /PluginEditorElement: the property label needs a doc comment/);
});
