import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../support/programs.ts';
import { packagesFolder, testPackages } from '../packages/packages.ts';
import { consumer } from './fixture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = createRequire(import.meta.url);

/** The compiler that this project uses, and one of the line 5, which comes with @arethetypeswrong/core. */
const compilers = [
  here.resolve('typescript/package.json'),
  createRequire((await testPackages()).resolve('@arethetypeswrong/core')).resolve('typescript/package.json'),
].map((path) => ({
  version: (here(path) as { version: string }).version,
  tsc: join(dirname(path), 'bin/tsc'),
}));

const compile = async (tsc: string, config: object, ...options: string[]) => {
  const file = join(consumer, 'tsconfig.json');
  await writeFile(file, JSON.stringify(config));
  const { stdout } = await run(process.execPath, [tsc, '-p', file, ...options], {
    cwd: consumer,
  }).catch((error: { stdout: string }) => error);
  return stdout;
};

for (const { version, tsc } of compilers) {
  test(`TypeScript ${version} compiles with its types and no others`, async () => {
    await writeFile(
      join(consumer, 'own.mts'),
      `import { StartError, readSettings, startService, type Settings } from 'plugin-editor-service';
const settings: Settings = { ...readSettings({ SERVICE_PORT: '0' }), editorAncestors: ['https://acme.example'] };
const service = await startService(settings);
export const port: number = service.port;
// @ts-expect-error it is a number
export const wrong: string = service.port;
export const isStart = (error: unknown): boolean => error instanceof StartError;
`,
    );
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023'],
      types: [],
      strict: true,
      skipLibCheck: false,
      // TypeScript's own.
      skipDefaultLibCheck: true,
      noEmit: true,
    };
    assert.equal(await compile(tsc, { compilerOptions, files: ['own.mts'] }), '');
  });
}

test('the service uses nothing of Node that the oldest supported version lacks', async () => {
  const [{ tsc } = { tsc: '' }] = compilers;
  const types = join(packagesFolder, 'node_modules');
  const compilerOptions = {
    noEmit: true,
    rootDir: root,
    typeRoots: [join(types, '@types')],
    // `@types/node` itself imports this.
    paths: { 'undici-types': [join(types, 'undici-types')] },
  };
  const config = {
    extends: join(root, 'service/tsconfig.json'),
    compilerOptions,
    include: [join(root, 'service/src')],
  };
  // Each of several checkers checks much of what the others check, too.
  assert.equal(await compile(tsc, config, '--checkers', '1'), '');
});
