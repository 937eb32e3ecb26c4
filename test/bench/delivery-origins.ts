/** Runs in a worker, so that neither the browser's driver nor the arithmetic disturbs its timers. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { parentPort, workerData } from 'node:worker_threads';
import { SlowLine } from './slow-line.ts';

/** What the worker is given. */
export interface OriginsData {
  roundTrip: number;
  key: string;
  cert: string;
  token: string;
  pageScript: string;
  greetingScript: string;
  editorScript: string;
}

/** What it says first: the two addresses. After that it hands on what pages report. */
export interface Addresses {
  page: string;
  editor: string;
}

const { roundTrip, key, cert, token, pageScript, greetingScript, editorScript } = workerData as OriginsData;

const html = (title: string, script: string, inline = '') => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">
<style>body { font: 1rem system-ui } iframe, plugin-editor { display: block; width: 100%; height: 20rem; border: 0 }
textarea { width: 100%; height: 18rem }</style>
<main></main>${inline}<script type="module" src="${script}"></script></html>`;

const JS = 'text/javascript; charset=utf-8';
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json';

/** The vendor's app: its page, its token endpoint, and where the page reports to. */
const answerPage: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'https://localhost');
  const send = (type: string, body: string) => response.setHeader('content-type', type).end(body);
  // A page that has been open for a while: what it was loaded by is closed by the time of the click.
  if (pathname.startsWith('/closed/')) response.setHeader('connection', 'close');
  if (pathname === '/token') {
    request.resume();
    send(JSON_TYPE, JSON.stringify({ token, expires_in: 900 }));
  } else if (pathname === '/report') {
    void forwardReport(request, response);
  } else if (pathname.endsWith('/page.js')) {
    send(JS, pageScript);
  } else {
    send(HTML, html('App', 'page.js'));
  }
};

/** The editor and its builder interface. */
const answerEditor: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'https://127.0.0.1');
  const send = (type: string, body: string) => response.setHeader('content-type', type).end(body);
  if (pathname.startsWith('/api/v1/draft/')) {
    if (request.headers.authorization === `Bearer ${token}`) {
      const contents = `// ${pathname}\nexport function run(input) {\n  return input.toUpperCase();\n}\n`;
      send(JSON_TYPE, JSON.stringify({ contents, lang: 'javascript', tests: [] }));
    } else {
      response.writeHead(401).end();
    }
  } else if (pathname === '/editor.js') {
    send(JS, editorScript);
  } else {
    send(HTML, html('Editor', '/editor.js', `<script type="module">${greetingScript}</script>`));
  }
};

async function forwardReport(request: IncomingMessage, response: ServerResponse): Promise<void> {
  postToParent(JSON.parse(await text(request)));
  response.writeHead(204).end();
}

function postToParent(message: unknown): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  parentPort?.postMessage(message);
}

const line = new SlowLine({ roundTrip, bandwidth: Infinity });

async function start(listener: RequestListener): Promise<number> {
  // As long as common servers keep a connection that is not used.
  const server = createServer({ key, cert, keepAliveTimeout: 75_000 }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return line.lead((server.address() as AddressInfo).port);
}

const addresses: Addresses = {
  page: `https://localhost:${await start(answerPage)}`,
  editor: `https://127.0.0.1:${await start(answerEditor)}`,
};
postToParent(addresses);
