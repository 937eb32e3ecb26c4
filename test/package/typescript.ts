import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { data, modules, packed } from './fixture.ts';
import { run } from '../support/programs.ts';
import { testPackages } from '../packages/packages.ts';

const tools = await testPackages();
const here = createRequire(import.meta.url);

/** The compiler that this project uses, and one of the line 5, which comes with @arethetypeswrong/core. */
const COMPILERS = [
  here.resolve('typescript/package.json'),
  createRequire(tools.resolve('@arethetypeswrong/core')).resolve('typescript/package.json'),
].map((path) => ({
  version: (here(path) as { version: string }).version,
  tsc: join(dirname(path), 'bin/tsc'),
}));

const bundler = { moduleResolution: 'bundler', module: 'esnext' };
const node16 = { moduleResolution: 'node16', module: 'node16' };
const nodenext = { moduleResolution: 'nodenext', module: 'nodenext' };

/** The modes that are most used with each. Several checkers of the newer compiler each check much of what the others check, too. */
const modesOf = (version: string) =>
  version.startsWith('5.')
    ? { resolutions: [bundler, node16], options: [] }
    : { resolutions: [bundler, nodenext], options: ['--checkers', '1'] };

/** Uses every key, and some types in ways that would not fail if they were `any`. */
const programFor = (module: string) => [
  ...modules.map((specifier, i) => `import * as m${i} from '${specifier}';`),
  // It knows these attributes only from node18 on.
  ...data.map(
    (specifier, i) =>
      `import d${i} from '${specifier}'${module === 'node16' ? '' : ` with { type: 'json' }`};`,
  ),
  `export const all: object[] = [${[...modules.map((_, i) => `m${i}`), ...data.map((_, i) => `d${i}`)].join()}];`,
  `
import { PluginEditorElement, type PluginEditorError } from 'plugin-editor';
import { featuresSchema, parseIdent } from 'plugin-editor/client.js';
import { createTokenEndpoint } from 'plugin-editor/server.js';

export const tenant: string = parseIdent('a.b').tenant;
// @ts-expect-error it is text
export const wrong: number = parseIdent('a.b').tenant;
export const features: string[] = featuresSchema.parse({}).features;
// @ts-expect-error they are text
export const wrongFeatures: number[] = featuresSchema.parse({}).features;
const element = new PluginEditorElement();
element.addEventListener('plugin-editor-error', (event) => {
  const { code }: PluginEditorError = event.error;
  // @ts-expect-error there is no such code
  if (code === 'none') return;
});
document.createElement('plugin-features').value = 'typescript';
// @ts-expect-error authorize is required
createTokenEndpoint({ access: async () => { throw new Error(); } });
`,
];

for (const { version, tsc } of COMPILERS) {
  const { resolutions, options } = modesOf(version);
  for (const resolution of resolutions) {
    test(`TypeScript ${version} compiles with all types of the package under moduleResolution ${resolution.moduleResolution}`, async () => {
      const name = `${version}-${resolution.moduleResolution}`;
      const at = (file: string) => join(packed.consumer, file);
      await writeFile(at(`${name}.mts`), programFor(resolution.module).join('\n'));
      const compilerOptions = {
        ...resolution,
        target: 'es2022',
        lib: ['es2023', 'dom', 'dom.iterable'],
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        // TypeScript's own.
        skipDefaultLibCheck: true,
        resolveJsonModule: true,
        noEmit: true,
      };
      await writeFile(at(`${name}.json`), JSON.stringify({ compilerOptions, files: [`${name}.mts`] }));
      const { stdout } = await run(process.execPath, [tsc, '-p', `${name}.json`, ...options], {
        cwd: packed.consumer,
      }).catch((error: { stdout: string }) => error);
      assert.equal(stdout, '');
    });
  }
}

test('one of the compilers is TypeScript 5', () => {
  assert.ok(COMPILERS.some(({ version }) => version.startsWith('5.')));
});
