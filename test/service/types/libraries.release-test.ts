import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installTestPackages, packagesFolder } from '../../packages/packages.ts';
import { runCommand } from '../cli/service-command.ts';
import { temporaryDirectory } from '../harness.ts';
import { asJson, startTypedPlugin } from './typed-plugin.ts';

/** A plugin for each package, and what it returns. */
const plugins: Readonly<Record<string, readonly [source: string, output: string]>> = {
  'decimal.js': [
    `import { Decimal } from 'decimal.js';
export const run = () => new Decimal('0.1').plus('0.2').toString();`,
    '0.3',
  ],
  'date-fns': [
    `import { addMonths, differenceInDays, format } from 'date-fns';
export const run = () => format(addMonths(new Date(2026, 0, 31), 1), 'd MMMM yyyy') + differenceInDays(9e8, 0);`,
    '28 February 202610',
  ],
  'lodash-es': [
    `import { groupBy, camelCase } from 'lodash-es';
export const run = () => camelCase('some words') + JSON.stringify(groupBy([1.2, 1.8, 2.1], Math.floor));`,
    'someWords{"1":[1.2,1.8],"2":[2.1]}',
  ],
  zod: [
    `import { z } from 'zod';
export const run = () => z.object({ count: z.number() }).safeParse({ count: 'no' }).error.issues[0].path[0];`,
    'count',
  ],
  jsonata: [
    `import jsonata from 'jsonata';
export const run = async () => String(await jsonata('$sum(lines.price)').evaluate({ lines: [{ price: 1 }, { price: 2 }] }));`,
    '3',
  ],
};

test('packages of npm become libraries by a command, and plugins import them', async (t) => {
  await installTestPackages();
  const directory = temporaryDirectory(t);
  // A busy machine takes long to load a large package.
  const runLimits = { time: 60_000, memory: 32 * 2 ** 20 };
  const { fetch, vendor, setTypes, build, tryOut } = await startTypedPlugin(t, { runLimits });
  for (const [name, [source, output]] of Object.entries(plugins)) {
    const file = join(directory, `${name}.json`);
    const command = runCommand(t, undefined, ['bundle', name, '--out', file], {}, packagesFolder);
    const { status, err } = await command.done();
    assert.equal(status, 0, err);
    const version = /^\S+ (\S+): \d+ bytes/.exec(err)?.[1] ?? '';
    const response = await fetch(`/api/v1/environment/com.acme/libraries/${name}/${version}`, {
      method: 'PUT',
      headers: { ...vendor, ...asJson },
      body: readFileSync(file),
    });
    assert.equal(response.status, 201, await response.clone().text());
    await setTypes({ libraries: { [name]: version } });
    const built = await build(source);
    assert.equal(built.succeeded, true, built.outputLog);
    assert.deepEqual(await tryOut(''), { result: output }, name);
  }
  const missing = await runCommand(t, undefined, ['bundle', 'not-there'], {}, packagesFolder).done();
  assert.deepEqual([missing.status, missing.out], [1, '']);
  assert.match(missing.err, /npm install not-there/);
  const [name = ''] = Object.keys(plugins);
  const args = ['bundle', name, '--out', join(directory, 'not-there', 'library.json')];
  const unwritten = await runCommand(t, undefined, args, {}, packagesFolder).done();
  assert.equal(unwritten.status, 1);
  assert.match(unwritten.err, /^The library cannot be written: ENOENT.*\n$/);
});
