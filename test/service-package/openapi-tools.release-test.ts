import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listen } from '../service/harness.ts';
import { toolsFor } from '../service/http/openapi/tools.ts';

type Scenario = (baseUrl: string, environmentToken: string) => Promise<unknown>;

test('a client generated from the document compiles, and works against the service', async (t) => {
  const { port, send, environmentToken } = await listen(t);
  const { folder, run } = await toolsFor(t, JSON.parse((await send('GET', '/openapi.json')).body));
  const generated = await run('openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'schema.d.ts');
  assert.equal(generated.code, 0, generated.output);
  const compiled = await run('typescript/bin/tsc', '--project', 'tsconfig.json');
  assert.deepEqual(compiled, { code: 0, output: '' });
  const { scenario } = (await import(pathToFileURL(join(folder, 'scenario.ts')).href)) as {
    scenario: Scenario;
  };
  assert.deepEqual(await scenario(`http://127.0.0.1:${port}`, await environmentToken()), {
    language: 'JavaScript',
    isNew: true,
    hasTag: true,
    refused: 'precondition-failed',
    built: true,
    tested: 'Hello, Ada!',
    deployed: 'v1.0.0',
    output: 'Hello, Grace!',
    listed: ['say hello/twice v1.0.0'],
    pinned: 'v1.0.0',
    runs: [{ version: 'v1.0.0', success: true }],
    suspended: true,
    withoutToken: 'tenant-suspended',
    deleted: 204,
    tenants: [],
  });
});

test('the document passes a linter', async (t) => {
  const { send } = await listen(t);
  const { run } = await toolsFor(t, JSON.parse((await send('GET', '/openapi.json')).body));
  const { code, output } = await run(
    '@redocly/cli/bin/cli.js',
    'lint',
    'openapi.json',
    '--config',
    'redocly.yaml',
  );
  assert.equal(code, 0, output);
});
