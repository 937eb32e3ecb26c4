import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Reference, referencesOf, root } from './references.ts';

const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  scripts: Record<string, string>;
};

/** The source of a package of this repository that is imported by its name. */
function sourceOf(specifier: string): string | undefined {
  if (specifier === 'plugin-editor-service') return 'service/src/index.ts';
  const match = /^plugin-editor(?:\/(.+)\.js)?$/.exec(specifier);
  return match ? `src/${match[1] ?? 'index'}.ts` : undefined;
}

/** What only Vite and the compiler are told of: the page that the demo builds, and the sources of the packages. */
const built: Readonly<Record<string, readonly string[]>> = {
  'demo/build.ts': ['index.html'],
  'tools/build/steps.ts': ['vite.config.ts', 'src/index.ts', 'service/src/index.ts', 'editor/index.html'],
};

const isCode = (path: string) => /\.(?:[jt]sx?|html)$/.test(path) && existsSync(root + path);

const isFollowed = ({ kind, target }: Reference) =>
  kind !== 'type' && isCode(target) && !/^(?:node_modules|dist)\//.test(target);

/**
 * The files that a script names, and all that these load or start in turn. What `tools/run.js` can prepare is among them
 * whether or not the script asks for it.
 */
function filesOf(script: string): Set<string> {
  const found = new Set<string>();
  const waiting = (scripts[script] ?? '').split(/\s+/).filter(isCode);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const reference of referencesOf(file)) {
      const target = sourceOf(reference.specifier) ?? reference.target;
      if (isFollowed({ ...reference, target })) waiting.push(target);
    }
    waiting.push(...(built[file] ?? []));
  }
  return found;
}

for (const script of ['prestart', 'start', 'build', 'generate', 'docs', 'env-token', 'prepack']) {
  test(`npm run ${script} needs no file of the tests`, () => {
    assert.deepEqual(
      [...filesOf(script)].filter((file) => file.startsWith('test/')),
      [],
    );
  });
}

test('the files that scripts start are followed through all imports', () => {
  const start = filesOf('start');
  for (const file of ['demo/page/state.ts', 'service/src/sandbox/runner-main.ts', 'src/element/frame.ts']) {
    assert.ok(start.has(file), file);
  }
  const build = filesOf('build');
  for (const file of ['editor/src/main.ts', 'tools/generate/manifest.ts', 'tools/setup/lock-file.js']) {
    assert.ok(build.has(file), file);
  }
  assert.ok([...filesOf('check')].some((file) => file.startsWith('test/')));
});

test('there are at most 15 scripts, and each of their flags is written once', () => {
  assert.ok(Object.keys(scripts).length <= 15, Object.keys(scripts).join(', '));
  const flags = Object.values(scripts).flatMap((script) => script.match(/(?<=\s)--?[a-z][\w-]*/g) ?? []);
  assert.deepEqual(
    flags.filter((flag, i) => flags.indexOf(flag) !== i),
    [],
  );
});

test('every file that a script names exists', () => {
  for (const [name, script] of Object.entries(scripts)) {
    for (const word of script.split(/\s+/).filter((one) => /\.[jt]s$/.test(one))) {
      assert.ok(existsSync(root + word), `${name}: ${word}`);
    }
  }
});
