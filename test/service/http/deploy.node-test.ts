import assert from 'node:assert/strict';
import { test } from 'node:test';
import { running, startPlugin } from '../plugin.ts';
import { storedBytes } from '../storage/databases.ts';
import { until } from '../../support/until.ts';
import { findNewestVersion } from '../../../service/src/storage/tables/versions.ts';

const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };

test('a deployment that changes nothing answers with the newest version, and makes no other', async (t) => {
  const { build: buildBy, saveDraft, send, paths, editor, vendor, address } = await startPlugin(t);
  const contents = running('return input;');
  const source = { contents, lang: 'javascript', tests: [{ name: 'one', payload: 'x' }] };
  const promote = async () => {
    const { status, body } = await send('POST', paths.promote, editor);
    assert.equal(status, 200, body);
    return JSON.parse(body) as unknown;
  };
  await saveDraft(source);
  await buildBy(contents);
  assert.deepEqual(await promote(), { version: 'v1.0.0', live: 'v1.0.0' });
  // The build is counted a moment after its response.
  await until('the build is counted', async () =>
    (await send('GET', '/api/v1/environment/com.acme/usage', vendor)).body.includes('"builds":1'),
  );
  const before = await storedBytes(t, address);
  for (let i = 0; i < 20; i++)
    assert.deepEqual(await promote(), { version: 'v1.0.0', unchanged: true, live: 'v1.0.0' });
  assert.ok(before.equals(await storedBytes(t, address)), 'something was written');

  // The order of a test's fields means nothing; what the draft was in between does not count.
  await buildBy(running('return "another";'));
  assert.deepEqual(await promote(), { version: 'v1.0.1', live: 'v1.0.1' });
  await saveDraft({ ...source, tests: [{ payload: 'x', name: 'one' }] });
  await buildBy(contents);
  assert.deepEqual(await promote(), { version: 'v1.0.2', live: 'v1.0.2' });
  assert.deepEqual(await promote(), { version: 'v1.0.2', unchanged: true, live: 'v1.0.2' });

  await saveDraft({ ...source, tests: [{ payload: 'y', name: 'one' }] });
  assert.deepEqual(await promote(), { version: 'v1.0.3', live: 'v1.0.3' });
  await saveDraft({ contents, lang: 'javascript' });
  assert.deepEqual(await promote(), { version: 'v1.0.4', live: 'v1.0.4' });
  await saveDraft({ contents, lang: 'javascript', tests: [] });
  assert.deepEqual(await promote(), { version: 'v1.0.4', unchanged: true, live: 'v1.0.4' });
});

test('a deployment that changes nothing needs no build', async (t) => {
  const { build: buildBy, saveDraft, send, paths, editor, storage } = await startPlugin(t);
  const contents = running('return input;');
  await buildBy(contents);
  await send('POST', paths.promote, editor);
  await buildBy(running('return "another";'));
  await saveDraft({ contents, lang: 'javascript' });
  // What was built last is of another text now, so a test is refused.
  assert.equal((await send('POST', paths.test, editor)).status, 409);
  const { body } = await send('POST', paths.promote, editor);
  assert.equal(body, '{"version":"v1.0.0","unchanged":true,"live":"v1.0.0"}');
  assert.ok(await findNewestVersion(storage.db, plugin));
});

test('twenty simultaneous equal deployments make one version, and are all answered with it', async (t) => {
  const { build: buildBy, send, paths, editor, run } = await startPlugin(t);
  await buildBy(running('return input;'));
  const bodies = await Promise.all(
    Array.from({ length: 20 }, async () => (await send('POST', paths.promote, editor)).body),
  );
  const made = bodies.filter((body) => body === '{"version":"v1.0.0","live":"v1.0.0"}');
  const found = bodies.filter((body) => body === '{"version":"v1.0.0","unchanged":true,"live":"v1.0.0"}');
  assert.deepEqual([made.length, found.length], [1, 19]);
  assert.equal((await run('v1.0.1')).status, 404);
});
