import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packed, scripts } from './fixture.ts';

const root = new URL('../../', import.meta.url);

for (const script of scripts.filter((path) => path.endsWith('.js'))) {
  test(`${script} has the full licence of everything bundled into it`, async () => {
    const file = join(packed.installed, script.replace(packed.manifest.name, ''));
    const licences = await readFile(join(file, '../LICENSES.txt'), 'utf8');
    const [, map = ''] = /sourceMappingURL=(.+)$/.exec(await readFile(file, 'utf8')) ?? [];
    const { sources } = JSON.parse(await readFile(join(file, '..', map), 'utf8')) as { sources: string[] };
    // Our own sources are files of the package.
    for (const path of sources.filter((source) => !source.includes('node_modules')))
      await access(join(file, '..', path));
    const packages = new Set(
      sources.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
    );
    assert.ok(packages.has('lit-html'));
    for (const name of packages) {
      const at = (path: string) => readFile(new URL(`node_modules/${name}/${path}`, root), 'utf8');
      const { version, license } = JSON.parse(await at('package.json')) as Record<string, string>;
      assert.ok(
        licences.includes(`## ${name} - ${version} (${license})\n\n${(await at('LICENSE')).trim()}\n`),
        name,
      );
    }
  });
}
