import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { notFound } from './errors.ts';
import { encodedPath, route } from './routes.ts';

/** One file of the editor. */
export interface EditorAsset {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Its content type. */
  readonly type: string;
}

/** The editor's files by their path under `/editor/`: `index.html`, `assets/…`. */
export type EditorAssets = ReadonlyMap<string, EditorAsset>;

/** What stands in the editor's HTML where each answer puts a fresh nonce. */
export const nonceMarker = '__CSP_NONCE__';

const loopbackOrigins = ['localhost', '*.localhost', '127.0.0.1'].flatMap((host) => [
  `http://${host}:*`,
  `https://${host}:*`,
]);

// A name that the bundler made from the content: "assets/index-B7x_2kQa.js".
const hashedName = /^assets\/.+-[\w-]{8}\.\w+$/;

/**
 * Serves the editor from memory: no path, whatever it holds, reaches the disk. `ancestors` are origins that may
 * put it in a frame besides those of this machine; throws when one is not an origin.
 */
export function editorPage(app: Hono, assets: EditorAssets, ancestors: readonly string[]): void {
  const frameAncestors = ["'self'", ...loopbackOrigins, ...ancestors.map(checkedOrigin)].join(' ');

  route(app, '/editor', { GET: (c) => c.redirect(`/editor/${new URL(c.req.url).search}`, 308) });

  route(app, '/editor/*', {
    GET: (c) => {
      const path = decodeURIComponent(encodedPath(c.req.raw).slice('/editor/'.length)) || 'index.html';
      const asset = assets.get(path);
      if (!asset) throw notFound('not-found', 'The editor has no such file.');
      const headers = { 'content-type': asset.type, 'referrer-policy': 'no-referrer' };
      if (!asset.type.startsWith('text/html')) {
        const cache = hashedName.test(path) ? 'public, max-age=31536000, immutable' : 'no-store';
        return c.body(asset.body, 200, { ...headers, 'cache-control': cache });
      }
      const nonce = randomBytes(18).toString('base64url');
      const html = new TextDecoder().decode(asset.body).replaceAll(nonceMarker, nonce);
      return c.body(html, 200, {
        ...headers,
        'cache-control': 'no-store',
        'content-security-policy': pagePolicy(nonce, frameAncestors),
      });
    },
  });
}

// The nonce is for the style elements that the text editor makes; scripts come from files alone.
const pagePolicy = (nonce: string, frameAncestors: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `frame-ancestors ${frameAncestors}`,
  ].join('; ');

function checkedOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, '').toLowerCase()) {
    throw new Error(`EDITOR_ANCESTORS: "${text}" is not an origin, such as https://app.example.com.`);
  }
  return url.origin;
}
