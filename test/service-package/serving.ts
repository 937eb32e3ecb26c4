import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runCommand, startInstalled, temporaryDataDirectory } from './service-process.ts';

interface Source {
  contents: string;
  tests: { payload: string }[];
}

describe('npx plugin-editor-service, on the oldest Node that it supports,', () => {
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  let service: Awaited<ReturnType<typeof startInstalled>>;
  let environmentToken = '';

  before(async () => {
    data = await temporaryDataDirectory();
    service = await startInstalled(data.folder);
  });
  after(async () => {
    await service?.stop();
    await data?.remove();
  });

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const send = (method: string, path: string, token: string, body?: string, type = 'text/plain') =>
    fetch(service.origin + path, {
      method,
      headers: { ...bearer(token), ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
    });
  const json = async <T>(response: Response): Promise<T> => {
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text) as T;
  };

  test('serves the editor and all files that its page names', async () => {
    const page = await fetch(`${service.origin}/editor/`);
    assert.equal(page.status, 200);
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="(\/editor\/[^"]+)"/g)].map(([, path = '']) => path);
    assert.ok(files.some((path) => path.endsWith('.js')) && files.some((path) => path.endsWith('.css')));
    for (const path of files) {
      const file = await fetch(service.origin + path);
      assert.equal(file.status, 200, path);
      assert.notEqual((await file.arrayBuffer()).byteLength, 0, path);
    }
  });

  test('prints by env-token a token for an environment, alone on the last line', async () => {
    const { output, errors, closed } = runCommand(data.folder, 'env-token', 'com.acme');
    assert.deepEqual(await closed, [0, null], errors());
    environmentToken = output().trim();
    assert.match(environmentToken, /^pe_env_[\w-]{43}$/);
  });

  for (const language of ['javascript', 'typescript', 'assemblyscript']) {
    test(`lets a plugin in ${language} be written, built, tested, deployed and run by version and by name`, async () => {
      const plugin = `com.acme.t1/default/in-${language}`;
      const { token } = await json<{ token: string }>(
        await send('GET', `/auth/v2/access/${plugin}`, environmentToken),
      );
      const template = await json<Source>(
        await fetch(`${service.origin}/api/v2/template/${language}/in-${language}`),
      );
      await json(
        await send('POST', `/api/v1/draft/${plugin}`, token, JSON.stringify(template), 'application/json'),
      );
      const built = await json<{ succeeded: boolean; outputLog: string }>(
        await send('POST', `/api/v1/build/${language}/${plugin}`, token, template.contents),
      );
      assert.equal(built.succeeded, true, built.outputLog);
      const expected = `Hello, Ada! This is in-${language} in default.`;
      const tested = await json<{ result: string }>(
        await send('POST', `/api/v1/test/${plugin}`, token, 'Ada'),
      );
      assert.equal(tested.result, expected);
      const { version } = await json<{ version: string }>(
        await send('POST', `/api/v1/draft/${plugin}/promote`, token),
      );
      for (const path of [`/exec/${plugin}/${version}`, `/exec/name/${plugin}`]) {
        const ran = await send('POST', path, environmentToken, 'Ada');
        assert.deepEqual([ran.status, await ran.text()], [200, expected], path);
      }
    });
  }

  test('prints no warning, neither of its own nor of Node', () => {
    const own = service.errors().replace(/^npm .*\n/gm, '');
    assert.equal(own, '');
  });
});
