import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildEditor } from '../support/editor-files.ts';
import { listen } from '../../service/src/http/listen.ts';
import { createService } from '../../service/src/http/create-service.ts';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { buildEditorUrl } from '../../src/client.ts';
import { AccessClient } from '../../src/server.ts';
import { bundle } from '../bench/bundle.ts';

export const COUNT = 100;

/** Elements of ours, or frames by hand. */
export type Way = 'elements' | 'frames';

export type Layout = 'list' | 'gap';

/** A host's page with many editors, in both ways, the service with its editor on another origin, and what they were asked. */
export interface LazyPages {
  origin: string;
  address(way: Way, layout: Layout): string;
  /** How often each plugin's token was asked for. */
  readonly requests: Map<string, number>;
  /** How many editor pages were loaded. */
  loads(): number;
  /** How many of these got as far as their plugin's text, all plugins being new. */
  templates(): number;
  close(): Promise<void>;
}

const IDENT = 'com.example.customer-7';

export async function startLazyPages(): Promise<LazyPages> {
  const directory = mkdtempSync(join(tmpdir(), 'plugin-editor-lazy-'));
  const storage = await openStorage({ engine: 'sqlite', file: join(directory, 'service.sqlite') });
  const serviceHosts: string[] = [];
  const service = createService({ storage, editorAssets: await buildEditor(), hosts: serviceHosts });
  let loads = 0;
  let templates = 0;
  const counted = {
    refuse: service.refuse,
    fetch: (request: Request, env: object) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/editor/') loads += 1;
      if (pathname.startsWith('/api/v2/template/')) templates += 1;
      return service.fetch(request, env);
    },
  };
  const serving = await listen(counted, 0, 'SERVICE_PORT');
  const builder = `http://127.0.0.1:${serving.port}`;
  serviceHosts.push(new URL(builder).host);

  const access = new AccessClient({
    builderUrl: builder,
    environmentToken: await provisionEnvironmentToken(storage, 'com.example'),
  });
  const nameOf = (i: number) => `plugin-${i}`;
  const tokenFor = async (fn: string) => (await access.getEditorToken({ identifier: IDENT, ext: fn })).token;
  const editorUrl = `${builder}/editor/`;
  const frames = await Promise.all(
    Array.from({ length: COUNT }, async (_, i) => {
      const fn = nameOf(i);
      const token = await tokenFor(fn);
      const url = buildEditorUrl({ editorUrl, builder, token, ident: IDENT, fn, template: 'javascript' });
      return `<iframe loading="lazy" src="${url.replaceAll('&', '&amp;')}"></iframe>`;
    }),
  );
  const elements = Array.from(
    { length: COUNT },
    (_, i) =>
      `<plugin-editor loading="lazy" editor-url="${editorUrl}" builder="${builder}" ident="${IDENT}" ` +
      `fn="${nameOf(i)}" template="javascript" token-endpoint="/token"></plugin-editor>`,
  );
  const script = await bundle('src/index.ts');
  const requests = new Map<string, number>();
  const html = (way: Way, layout: Layout) => {
    const all = [...(way === 'elements' ? elements : frames)];
    // Further than any browser looks ahead.
    if (layout === 'gap') all.splice(2, 0, '<div style="block-size: 20000px"></div>');
    const head = way === 'elements' ? '<script type="module" src="/elements.js"></script>' : '';
    return (
      '<!doctype html><meta charset="utf-8"><title>Many editors</title><link rel="icon" href="data:,">' +
      '<style>body{margin:0}iframe{display:block;inline-size:100%;block-size:36rem;border:0}</style>' +
      `${head}${all.join('')}`
    );
  };
  const respond = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/token') {
      const { fn } = (await request.json()) as { fn: string };
      requests.set(fn, (requests.get(fn) ?? 0) + 1);
      return Response.json({ token: await tokenFor(fn), expires_in: 900 });
    }
    if (pathname === '/elements.js') {
      return new Response(script, { headers: { 'content-type': 'text/javascript' } });
    }
    const [, way, layout] = pathname.split('/') as [string, Way, Layout];
    return new Response(html(way, layout), { headers: { 'content-type': 'text/html; charset=utf-8' } });
  };
  const hosting = await listen(
    { fetch: respond, refuse: () => new Response(null, { status: 400 }) },
    0,
    'PORT',
  );
  const origin = `http://localhost:${hosting.port}`;
  return {
    origin,
    requests,
    address: (way, layout) => `${origin}/${way}/${layout}`,
    loads: () => loads,
    templates: () => templates,
    close: async () => {
      await Promise.all([hosting.close(), serving.close()]);
      await service.close();
      await storage.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
