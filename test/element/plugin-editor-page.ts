import { type ScriptedServer, place } from './plugin-editor-setup.ts';

/** A separate page with its own element registry, on the origin of the tests. */
export interface Page {
  contentWindow: Window & typeof globalThis & { violations: string[] };
  contentDocument: Document;
  frame: HTMLIFrameElement;
}

export interface PageOptions {
  /** Headers of the page, such as a content security policy. */
  headers?: Record<string, string>;
  /** What the page loads first; `null` for nothing. */
  module?: string | null;
  sandbox?: string;
  /** In the body, before any script runs. */
  body?: string;
}

// In a file, because a strict policy forbids inline scripts.
const WATCH = `
  self.violations = [];
  addEventListener('securitypolicyviolation', (event) => {
    violations.push(event.effectiveDirective + ' ' + event.blockedURI);
  });`;

/** Opens such a page and waits until it and its module have loaded. */
export async function openPage(
  server: ScriptedServer,
  { headers = {}, module = '/src/plugin-editor.ts', sandbox, body = '' }: PageOptions = {},
): Promise<Page> {
  const script = module === null ? '' : `<script type="module" src="${module}"></script>`;
  await server.on(
    { path: '/watch.js', body: WATCH, headers: { 'content-type': 'text/javascript' } },
    {
      path: '/page',
      times: 1,
      headers,
      html: `<!doctype html><html lang="en"><title>Page</title><script src="${server.sameOrigin.url('/watch.js')}"></script>
        <body>${body}${script}`,
    },
  );
  const frame = document.createElement('iframe');
  frame.title = 'Page';
  frame.width = frame.height = '600';
  if (sandbox !== undefined) frame.setAttribute('sandbox', sandbox);
  frame.src = server.sameOrigin.url('/page');
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  place().append(frame);
  await loaded;
  return {
    contentWindow: frame.contentWindow as Page['contentWindow'],
    contentDocument: frame.contentDocument as Document,
    frame,
  };
}
