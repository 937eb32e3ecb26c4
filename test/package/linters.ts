import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { modules, packed } from './fixture.ts';
import { publintMessages } from './publint.ts';
import { testPackages } from '../packages/packages.ts';

const tools = await testPackages();

/** What is used of `@arethetypeswrong/core` 0.18. */
interface AreTheTypesWrong {
  createPackageFromTarballData: (tarball: Uint8Array) => unknown;
  checkPackage: (
    tarball: unknown,
    options: { entrypoints: string[] },
  ) => Promise<{
    types: unknown;
    problems: { kind: string; resolutionKind?: string }[];
    entrypoints: Record<string, { resolutions: Record<string, { resolution?: { fileName: string } }> }>;
  }>;
}

const { checkPackage, createPackageFromTarballData } = tools('@arethetypeswrong/core') as AreTheTypesWrong;

test('publint reports no problem', async () => {
  assert.deepEqual(await publintMessages(packed.installed, { ...packed.manifest }), []);
});

/** Its profile `esm-only`: `require()` of Node below 20.19 and resolution without an export map are left out. */
const ESM_ONLY = ['bundler', 'node16-esm'];

test('@arethetypeswrong reports no problem', async () => {
  const tarball = createPackageFromTarballData(new Uint8Array(await readFile(packed.file)));
  const entrypoints = modules.map((specifier) => specifier.replace(packed.manifest.name, '.'));
  const result = await checkPackage(tarball, { entrypoints });
  assert.ok(result.types);
  const problems = result.problems.filter(
    ({ resolutionKind }) => resolutionKind === undefined || ESM_ONLY.includes(resolutionKind),
  );
  assert.deepEqual(problems, []);
  for (const entrypoint of entrypoints) {
    for (const kind of ESM_ONLY) {
      const { resolutions } = result.entrypoints[entrypoint] ?? {};
      const found = resolutions?.[kind]?.resolution;
      assert.match(found?.fileName ?? '', /\.d\.ts$/, `${entrypoint} by ${kind}`);
    }
  }
});
