import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import type { StorageOptions } from '../../../service/src/storage/storage.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { bearer, draftPath, startService } from '../harness.ts';
import { cleanUpFirst, databaseWithSchema, openDuring } from '../storage/databases.ts';
import { build, deploy } from '../storage/plugins.ts';
import { until } from '../../support/until.ts';
import { readDraft } from '../../../service/src/storage/tables/drafts.ts';

export const pluginPath = draftPath.replace('/api/v1/draft/', '');
const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };

/**
 * A connection that is refused or reset is noticed at once, and tried again soon. One that only is slow, as on a busy machine, does
 * not count as lost.
 */
export const patientMonitor = {
  monitorTimeout: 60_000,
  monitorConnectTimeout: 60_000,
  reconnectInterval: 200,
} as const;

/** Puts a proxy in front of a PostgreSQL server. */
export async function proxyOf(t: TestContext, url: string) {
  const { hostname, port } = new URL(url);
  const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
  cleanUpFirst(t, () => proxy.close());
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${proxy.port}`;
  return { proxy, proxied: parseDatabaseUrl(proxied.href) };
}

/** A service whose PostgreSQL is behind a proxy, with a token and a draft; and a database that it may be given. */
export async function proxiedService(t: TestContext, options: StorageOptions = {}, databaseUrl?: string) {
  const direct =
    databaseUrl === undefined ? await databaseWithSchema(t, 'postgres') : parseDatabaseUrl(databaseUrl);
  assert.equal(direct.engine, 'postgres');
  const { url } = direct as { url: string };
  const { proxy, proxied } = await proxyOf(t, url);
  const storage = await openDuring(t, proxied, {
    ...options,
    postgresLimits: { ...patientMonitor, ...options.postgresLimits },
  });
  const service = await startService(t, { storage });
  const environmentToken = await service.environmentToken();
  const token = await service.editorToken(undefined, environmentToken);
  const save = (contents: string) => service.save(token, { lang: 'javascript', contents });
  const run = (version?: string) => {
    const path = version === undefined ? `/exec/name/${pluginPath}` : `/exec/${pluginPath}/${version}`;
    const headers = { ...bearer(environmentToken), 'content-type': 'text/plain' };
    return service.fetch(path, { method: 'POST', headers, body: 'input' });
  };
  const promote = () => service.fetch(`${draftPath}/promote`, { method: 'POST', headers: bearer(token) });
  const read = () => service.fetch(draftPath, { headers: bearer(token) });
  const saved = async () => (await readDraft(storage.db, plugin))?.source.contents;
  return {
    ...service,
    proxy,
    storage,
    url,
    environmentToken,
    token,
    save,
    read,
    run,
    promote,
    saved,
    buildProgram: (code: string) => build(storage, code, plugin),
    deployProgram: (code: string) => deploy(storage, code, plugin),
  };
}

/** Whether a response is the refusal for want of the database, as all of them have to be. */
export async function isUnavailable(answer: Response): Promise<boolean> {
  if (answer.status !== 503) return false;
  const { error } = (await answer.json()) as { error: { code: string } };
  assert.equal(error.code, 'storage-unavailable');
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  return true;
}

/** Waits for the database's return; until then, all that is answered is that it cannot be used. */
export const untilSaved = (save: (contents: string) => Response | Promise<Response>, contents: string) =>
  until('a save is acknowledged', async () => {
    const answer = await save(contents);
    if (await isUnavailable(answer)) return false;
    assert.equal(answer.status, 200);
    return true;
  });
