import { readFile } from 'node:fs/promises';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A vendor's page with its token endpoint, and the editor on another origin, both on loopback. */
export interface Origins {
  page: string;
  editor: string;
  close(): Promise<void>;
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>Bench</title>
<script type="module" src="/plugin-editor.js"></script><main></main>`;

/** Says when the browser began to load it, by the clock that all frames of a browser share. */
const EDITOR = `<!doctype html><meta charset="utf-8"><title>Editor</title>
<script>parent.postMessage({ navigated: performance.timeOrigin }, '*')</script>`;

export async function startOrigins(): Promise<Origins> {
  const bundle = await readFile('dist/cdn/plugin-editor.js');
  const page = await listen((request, response) => {
    if (request.url === '/token') {
      response.setHeader('content-type', 'application/json').end('{"token":"a-token","expires_in":900}');
    } else if (request.url === '/plugin-editor.js') {
      response.setHeader('content-type', 'text/javascript').end(bundle);
    } else {
      response.setHeader('content-type', 'text/html').end(PAGE);
    }
  });
  const editor = await listen((_, response) => {
    response.setHeader('content-type', 'text/html').end(EDITOR);
  });
  const address = (server: Server, host: string) =>
    `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    page: address(page, 'localhost'),
    editor: address(editor, '127.0.0.1'),
    close: async () => {
      for (const server of [page, editor]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

function listen(handler: RequestListener): Promise<Server> {
  const server = createServer(handler);
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
