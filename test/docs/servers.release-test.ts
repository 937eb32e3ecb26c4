import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join, parse } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import type { Express, Request } from 'express';
import type { Hono } from 'hono';
import { setSignedCookie } from 'hono/cookie';
import { build } from 'vite';
import { listen, rawRequest } from '../server/raw-request.ts';
import { type Builder, startBuilder } from './builder.ts';
import { installTestPackages } from '../packages/packages.ts';
import { type Project, createProject } from './package.ts';
import { read, snippet } from './markdown.ts';
import { cookieFor } from './session.ts';
import { newestDate, startWorker } from './worker-process.ts';

const CUSTOMER = 'customer-7';
const SECRET = 'the secret of this test';
const PATH = '/plugins/editor-token';
const PACKAGES = ['express', 'express-session', 'hono', 'typescript', '@types/node', '@types/react'];

let builder: Builder;
let place: Project;

before(async () => {
  await installTestPackages();
  [builder, place] = await Promise.all([
    startBuilder(),
    createProject({ packages: PACKAGES, servers: ['next', 'react', 'react-dom'] }),
  ]);
  process.env['ENVIRONMENT_TOKEN'] = builder.environmentToken;
  process.env['SESSION_SECRET'] = SECRET;
});
after(async () => {
  await place?.[Symbol.asyncDispose]();
  await builder?.[Symbol.asyncDispose]();
});

/** A snippet, pointed at the builder that runs here. */
const local = (name: string) => snippet(name, { 'https://builder.example.com': builder.origin });

const fields = (ident: string) => ({ ident, namespace: 'default', fn: 'add-record' });

/** Checks what holds in every framework, with a cookie of `customer-7`. The servers at `ports` take turns. */
async function expectTokenEndpoint(cookie: string, ...ports: number[]): Promise<void> {
  let turn = 0;
  const sendRequest = (body: object, headers: Record<string, string | undefined>) =>
    rawRequest(ports[turn++ % ports.length] as number, { path: PATH, body, headers });

  for (let i = 0; i < 2 * ports.length; i++) {
    const { status, json, text, headers } = await sendRequest(fields(`com.acme.${CUSTOMER}`), { cookie });
    assert.equal(status, 200, text);
    assert.equal(headers['cache-control'], 'no-store');
    assert.deepEqual(Object.keys(json).toSorted(), ['expires_in', 'token']);
    // The token is real: the builder accepts it for that plugin, and for no other.
    const record = JSON.stringify({ contents: 'export const run = String;', lang: 'javascript' });
    const save = (fn: string) =>
      builder.call(`/api/v1/draft/com.acme.${CUSTOMER}/default/${fn}`, String(json.token), record);
    assert.deepEqual([(await save('add-record')).status, (await save('price-rule')).status], [200, 403]);
  }
  for (const [why, body, headers, code] of [
    ['another customer’s plugin', fields('com.acme.customer-8'), { cookie }, 'not-authorized'],
    ['nobody signed in', fields(`com.acme.${CUSTOMER}`), {}, 'not-authorized'],
    [
      'a foreign page',
      fields(`com.acme.${CUSTOMER}`),
      { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      'origin-not-allowed',
    ],
  ] as const) {
    const { status, json, text } = await sendRequest(body, headers);
    assert.deepEqual([status, json.error?.code], [403, code], why);
    assert.ok(!text.includes(builder.environmentToken));
  }
}

/** Signs in at a server, by a route that the test has added. */
async function signIn(port: number): Promise<string> {
  const { headers } = await rawRequest(port, { path: '/sign-in' });
  return String(headers['set-cookie']?.[0]?.split(';')[0]);
}

describe('the token endpoint of the documentation', () => {
  test('runs in Express', async () => {
    await place.write('express.js', local('express.js'));
    const { app } = await place.load<{ app: Express }>('express.js');
    app.post('/sign-in', (req: Request & { session?: object }, res) => {
      Object.assign(req.session ?? {}, { customer: CUSTOMER });
      res.status(204).end();
    });
    await using server = await listen(app as RequestListener);
    await expectTokenEndpoint(await signIn(server.port), server.port);
  });

  test('runs in Hono', async () => {
    await place.write('hono.ts', local('hono.ts'));
    const { app } = await place.load<{ app: Hono }>('hono.ts');
    app.post('/sign-in', async (c) => {
      await setSignedCookie(c, 'customer', CUSTOMER, SECRET);
      return c.body(null, 204);
    });
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    await using server = await listen((req, res) => void listener(req, res));
    await expectTokenEndpoint(await signIn(server.port), server.port);
  });

  test('runs in Next.js, built with its types by `next build` and served by `next start`', async () => {
    await place.write(`app${PATH}/route.ts`, local('route.ts'));
    await copyFile(
      fileURLToPath(new URL('session.ts', import.meta.url)),
      join(place.directory, `app${PATH}/session.ts`),
    );
    // The packages lie outside of the directory, by links.
    const config = {
      turbopack: { root: parse(place.directory).root },
      // A cache is useless, because each build runs once.
      experimental: { turbopackFileSystemCacheForBuild: false },
    };
    await place.write('next.config.mjs', `export default ${JSON.stringify(config)};`);
    const next = join(place.directory, 'node_modules/next/dist/bin/next');
    const env = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };
    // The secret is available at run time, but not during the build.
    await place.run(process.execPath, [next, 'build'], { ...env, ENVIRONMENT_TOKEN: '' });

    const child = spawn(process.execPath, [next, 'start', '--hostname', '127.0.0.1', '--port', '0'], {
      cwd: place.directory,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    try {
      let output = '';
      for await (const part of child.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        output += String(part);
        if (output.includes('Ready')) break;
      }
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
      await expectTokenEndpoint(await cookieFor(CUSTOMER), port);
    } finally {
      child.kill();
      await ended;
    }
  });

  test('runs in Cloudflare Workers, in two processes that take turns and share nothing', async () => {
    await place.write('worker.ts', local('worker.ts'));
    await copyFile(
      fileURLToPath(new URL('session.ts', import.meta.url)),
      join(place.directory, 'session.ts'),
    );
    await build({
      root: place.directory,
      configFile: false,
      logLevel: 'error',
      // Wrangler's.
      resolve: { conditions: ['workerd', 'worker', 'browser'] },
      build: {
        outDir: '.',
        emptyOutDir: false,
        minify: false,
        lib: { entry: 'worker.ts', formats: ['es'], fileName: () => 'worker.js' },
      },
    });
    const bindings = { ENVIRONMENT_TOKEN: builder.environmentToken };
    const start = (date: string) => startWorker(place.directory, place.write, { date, bindings });
    // The oldest supported date and the newest, between which `URL` and `fetch` differ.
    const [, oldest = ''] = /compatibility date of (\S+) or later/.exec(read('docs/start/workers.md')) ?? [];
    await using one = await start(oldest);
    await using other = await start(newestDate());
    await expectTokenEndpoint(await cookieFor(CUSTOMER), one.port, other.port);
  });
});
