/** Runs in a worker, so that neither the browser's driver nor the arithmetic disturbs the line's timers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { readSettings, startService } from 'plugin-editor-service';
import { type Line, SlowLine } from './slow-line.ts';

/** What the worker is given. */
export interface WorldData {
  line: Line;
  pageScript: string;
}

/** What it says once all is there. */
export interface World {
  /** The vendor's page, on the slow line. */
  page: string;
  /** The service, by the address that it knows itself by, and the port at which the slow line leads to it. */
  service: string;
  linePort: number;
  /** An editor token for the plugin, and the first line of its text. */
  token: string;
  firstLine: string;
}

const { line, pageScript } = workerData as WorldData;

const PATH = 'com.acme.t1/default/add-record';
const firstLine = '// The draft as it was saved';
const contents = `${firstLine}\nexport const run = (input: string): string => input.toUpperCase();\n`;

const directory = mkdtempSync(join(tmpdir(), 'editor-load-'));
const service = await startService(readSettings({ SERVICE_PORT: '0', DATA_DIR: directory }));
const origin = `http://localhost:${service.port}`;
const environmentToken = await service.createEnvironmentToken('com.acme');

async function editorToken(): Promise<{ token: string; expires_in: number }> {
  const headers = { authorization: `Bearer ${environmentToken}` };
  return (await (await fetch(`${origin}/auth/v2/access/${PATH}`, { headers })).json()) as {
    token: string;
    expires_in: number;
  };
}

const { token } = await editorToken();
const saved = await fetch(`${origin}/api/v1/draft/${PATH}`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ contents, lang: 'typescript' }),
});
if (!saved.ok) throw new Error(`The draft was not saved: ${saved.status} ${await saved.text()}`);

/** The vendor's app: a page with the launcher, and a token endpoint. */
const vendor = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  if (request.url === '/token') {
    request.resume();
    void editorToken().then((answer) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer)),
    );
  } else if (request.url === '/page.js') {
    response.setHeader('content-type', 'text/javascript').end(pageScript);
  } else {
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(
        '<!doctype html><title>App</title><link rel="icon" href="data:,"><main></main><script type="module" src="page.js"></script>',
      );
  }
});
await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));

const slow = new SlowLine(line);
const world: World = {
  page: `http://127.0.0.1:${await slow.lead((vendor.address() as AddressInfo).port)}`,
  service: origin,
  linePort: await slow.lead(service.port),
  token,
  firstLine,
};

parentPort?.once('message', () => {
  void (async () => {
    await slow.close();
    vendor.closeAllConnections();
    vendor.close();
    await service.close();
    rmSync(directory, { recursive: true, force: true });
    parentPort?.close();
  })();
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
parentPort?.postMessage(world);
