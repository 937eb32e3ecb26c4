import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { modules, packed } from './fixture.ts';

test('publint finds nothing', async () => {
  const { messages } = await publint({ pkgDir: packed.installed, strict: true, pack: false });
  const manifest = { ...packed.manifest };
  assert.deepEqual(
    messages.map((message) => formatMessage(message, manifest)),
    [],
  );
});

/** Its profile `esm-only`: `require()` of Node below 20.19 and resolution without an export map are left out. */
const ESM_ONLY = ['bundler', 'node16-esm'];

test('@arethetypeswrong finds nothing', async () => {
  const tarball = createPackageFromTarballData(new Uint8Array(await readFile(packed.file)));
  const entrypoints = modules.map((specifier) => specifier.replace(packed.manifest.name, '.'));
  const result = await checkPackage(tarball, { entrypoints });
  assert.ok(result.types);
  const problems = result.problems.filter(
    (problem) => !('resolutionKind' in problem) || ESM_ONLY.includes(problem.resolutionKind),
  );
  assert.deepEqual(problems, []);
  for (const entrypoint of entrypoints) {
    for (const kind of ESM_ONLY) {
      const { resolutions } = result.entrypoints[entrypoint] ?? {};
      const found = resolutions?.[kind as 'bundler']?.resolution;
      assert.match(found?.fileName ?? '', /\.d\.ts$/, `${entrypoint} by ${kind}`);
    }
  }
});
