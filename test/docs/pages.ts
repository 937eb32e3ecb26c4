import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { setSignedCookie } from 'hono/cookie';
import { type Rolldown, build } from 'vite';
import { listen } from '../server/raw-request.ts';
import { type Builder, startBuilder } from './builder.ts';
import { type Project, createProject } from './package.ts';
import { snippet } from './markdown.ts';

const SECRET = 'the secret of this test';

/** The code by which an application mounts the components of the documentation. */
const MOUNTS = {
  'react.tsx': `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CustomerEditor } from './CustomerEditor.tsx';
createRoot(document.body).render(<StrictMode><CustomerEditor customer="customer-7" fn="react-plugin" /></StrictMode>);`,
  'vue.ts': `import { createApp } from 'vue';
import CustomerEditor from './CustomerEditor.vue';
createApp(CustomerEditor, { customer: 'customer-7', fn: 'vue-plugin' }).mount(document.body);`,
};

export interface Pages extends AsyncDisposable {
  builder: Builder;
  place: Project;
  /** The vendor's app: `/page.html`, `/listening.html`, `/react.html` and `/vue.html`, and a cookie at `/sign-in`. */
  vendor: string;
  editor: string;
  /** Delays requests for the editor's own script, which comes after the greeting, until the promise resolves. */
  holdEditorScript: (until: Promise<void>) => void;
}

/** Starts everything from the documentation: its pages and its Hono endpoint, with its editor and the real plugin service. */
export async function startPages(): Promise<Pages> {
  const types = ['@types/react', '@types/react-dom', '@types/node'];
  const packages = ['hono', 'react', 'react-dom', 'standardwebhooks', 'vue', '@vitejs/plugin-vue'];
  const [builder, place] = await Promise.all([
    startBuilder(),
    createProject({ packages: [...packages, ...types] }),
  ]);
  process.env['ENVIRONMENT_TOKEN'] = builder.environmentToken;
  process.env['SESSION_SECRET'] = SECRET;
  const toBuilder = { 'https://builder.example.com': builder.origin };

  let held = Promise.resolve();
  const editorFiles = new Map<string, string>();
  const editorServer = await serve(async (path) => {
    const text = editorFiles.get(path);
    if (text?.includes('does not work with that builder')) await held;
    return text;
  });
  const editor = `http://127.0.0.1:${editorServer.port}`;
  for (const name of ['client.ts', 'hono.ts', 'listen.ts', 'german.js', 'vite.config.js'])
    await place.write(name, snippet(name, /client|hono/.test(name) ? toBuilder : {}));
  await place.write('editor.ts', snippet('editor.ts', toBuilder));
  await place.write('run.ts', snippet('run.ts', { 'https://run.example.com': `${builder.origin}/exec` }));
  const places = { ...toBuilder, 'https://editor.example.com/': `${editor}/editor.html` };
  for (const name of ['CustomerEditor.tsx', 'CustomerEditor.vue'])
    await place.write(name, snippet(name, places));
  for (const [name, code] of Object.entries(MOUNTS)) await place.write(name, code);

  const files = new Map<string, string>();
  await bundle(place, [...Object.keys(MOUNTS), 'listen.ts'], files);
  const page = snippet('page.html', places);
  files.set('/page.html', page);
  files.set('/theme.css', snippet('theme.css'));
  files.set(
    '/listening.html',
    page.replace(
      '</html>',
      '<link rel="stylesheet" href="/theme.css"><button id="sign-out">Sign out</button><script type="module" src="/listen.js"></script></html>',
    ),
  );
  for (const name of ['react', 'vue'])
    files.set(
      `/${name}.html`,
      `<!doctype html><title>${name}</title><body><script type="module" src="/${name}.js"></script></body>`,
    );
  // A tag with the hash of another build would load nothing.
  const [, src = '', hash] = /<script[^>]* src="([^"]+)"[^>]* integrity="([^"]+)"/.exec(page) ?? [];
  const cdn = join(place.directory, 'node_modules/plugin-editor/dist/cdn');
  const release = JSON.parse(await readFile(join(cdn, 'integrity.json'), 'utf8')) as {
    files: Record<string, string>;
  };
  if (release.files['plugin-editor.js'] !== hash)
    throw new Error(
      'docs/start/script-tag.md: run node tools/run.js tools/generate/readme-integrity.ts --write',
    );
  files.set(src, await readFile(join(cdn, 'plugin-editor.js'), 'utf8'));

  const { app } = await place.load<{ app: Hono }>('hono.ts');
  app.get('/sign-in', async (c) => {
    await setSignedCookie(c, 'customer', 'customer-7', SECRET);
    return c.text('signed in');
  });
  app.get('*', (c) => respond(c.req.path, files.get(c.req.path)));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const vendorServer = await listen((req, res) => void listener(req, res));
  const vendor = `http://localhost:${vendorServer.port}`;

  // The editor allows the origin of the app.
  await place.write('greet.ts', snippet('greet.ts', { 'https://app.example.com': vendor }));
  await place.write('editor.html', snippet('editor.html'));
  await bundle(place, ['editor.html'], editorFiles);

  return {
    builder,
    place,
    vendor,
    editor,
    holdEditorScript: (until) => void (held = until),
    [Symbol.asyncDispose]: async () => {
      await vendorServer[Symbol.asyncDispose]();
      await editorServer[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
      await builder[Symbol.asyncDispose]();
    },
  };
}

/** Builds modules as an application does, with the documentation's `vite.config.js`. */
async function bundle({ directory }: Project, entries: string[], files: Map<string, string>): Promise<void> {
  const result = await build({
    root: directory,
    configFile: join(directory, 'vite.config.js'),
    logLevel: 'error',
    build: {
      write: false,
      target: 'esnext',
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: entries.map((name) => join(directory, name)),
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
        checks: { bundlerTimings: false },
      },
    },
  });
  for (const file of (result as Rolldown.RolldownOutput).output)
    files.set(`/${file.fileName}`, file.type === 'chunk' ? file.code : String(file.source));
}

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

const respond = (path: string, body: string | undefined) =>
  body === undefined
    ? new Response(null, { status: path === '/favicon.ico' ? 204 : 404 })
    : new Response(body, {
        headers: { 'content-type': `${TYPES[path.split('.').at(-1) ?? '']}; charset=utf-8` },
      });

function serve(read: (path: string) => Promise<string | undefined>) {
  const app = new Hono().get('*', async (c) => respond(c.req.path, await read(c.req.path)));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return listen((req, res) => void listener(req, res));
}
