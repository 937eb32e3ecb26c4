import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { createService } from '../../service/src/http/create-service.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import type { Figure } from './figures.ts';
import { median } from './figures.ts';

/** How many deploys are measured, after some that are not. */
const [measured, warmUp] = [200, 20];

/** Statements that are for the audit log and for webhooks alone. */
const extra = /audit_|webhook/;

/** What the audit log and webhooks add to a deploy: how much longer it takes with their statements than without. */
export async function measureDeploys(): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'plugin-bench-'));
  let added = 0;
  const storage = await openStorage(
    { engine: 'sqlite', file: join(directory, 'service.sqlite') },
    {
      log: ({ query, queryDurationMillis }) => {
        if (extra.test(query.sql)) added += queryDurationMillis;
      },
    },
  );
  const receiver = createServer((_, response) => response.writeHead(204).end());
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const host = 'localhost:8082';
  const service = createService({
    storage,
    editorAssets: new Map(),
    hosts: [host],
    outbound: { allow: [url] },
    secrets: { keys: [Buffer.alloc(32, 1)] },
  });
  try {
    const environmentToken = await provisionEnvironmentToken(storage, 'com.acme');
    const send = async (method: string, path: string, token: string, type: string, body: string) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type, host };
      const init = { method, headers, ...(method !== 'GET' && { body }) };
      const response = await service.fetch(new Request(`http://${host}${path}`, init));
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text;
    };
    const webhook = JSON.stringify({ url, events: ['plugin.deployed'] });
    await send(
      'POST',
      '/api/v1/environment/com.acme/webhooks',
      environmentToken,
      'application/json',
      webhook,
    );
    const plugin = 'com.acme.t1/default/plugin';
    const access = await send('GET', `/auth/v2/access/${plugin}`, environmentToken, '', '');
    const { token } = JSON.parse(access) as { token: string };
    const shares: number[] = [];
    const times: number[] = [];
    for (let i = 0; i < warmUp + measured; i++) {
      const source = `export const run = () => '${i}';`;
      await send('POST', `/api/v1/build/javascript/${plugin}`, token, 'text/plain', source);
      added = 0;
      const began = performance.now();
      await send('POST', `/api/v1/draft/${plugin}/promote`, token, 'application/json', '');
      const took = performance.now() - began;
      if (i < warmUp) continue;
      shares.push(took / (took - added));
      times.push(added);
    }
    return [
      {
        name: 'a deploy ÷ the same without audit log and webhooks',
        value: median(shares),
        limit: 1.2,
        unit: '×',
        note: `medians of ${measured} on SQLite; the statements take ${median(times).toFixed(2)} ms`,
      },
    ];
  } finally {
    await service.close();
    await storage.close();
    receiver.closeAllConnections();
    receiver.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
