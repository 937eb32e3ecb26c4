import { randomBytes } from 'node:crypto';
import type { Context, Hono } from 'hono';
import type { Bytes, ContentEncoding } from './content-encoding.ts';
import { chooseEncoding, compressQuickly, contentEncodings } from './content-encoding.ts';
import { notFound } from './errors.ts';
import { frameAncestors } from './frame-ancestors.ts';
import { encodedPath, route } from './routes.ts';

/** One file of the editor. */
export interface EditorAsset {
  readonly body: Bytes;
  /** Its content type. */
  readonly type: string;
  /** The same compressed, where the build did that. */
  readonly compressed?: Readonly<Partial<Record<ContentEncoding, Bytes>>>;
}

/** The editor's files by their path under `/editor/`: `index.html`, `assets/…`. */
export type EditorAssets = ReadonlyMap<string, EditorAsset>;

/** The placeholder in the editor's HTML that each response replaces with a fresh nonce. */
const nonceMarker = '__CSP_NONCE__';

/** The placeholder that each response replaces with `on` or `off`, as `EDITOR_ADDRESS_TOKENS` is. */
const addressTokensMarker = '__ADDRESS_TOKENS__';

export interface EditorPageOptions {
  /** `EDITOR_ANCESTORS` (default: any port of this machine). Read at every request. */
  ancestors?: readonly string[] | undefined;
  /** `EDITOR_ADDRESS_TOKENS` (default true). */
  addressTokens?: boolean | undefined;
  /** Counts a request for the page, and throws when there were too many. Requests for other files are not counted. */
  countPage?: (c: Context) => Promise<void>;
}

// A name that the bundler made from the content: "assets/index-B7x_2kQa.js".
const hashedName = /^assets\/.+-[\w-]{8}\.\w+$/;

/**
 * Serves the editor from memory: no path, whatever it holds, reaches the disk.
 * @throws Error when one of the ancestors is not an exact origin.
 */
export function editorPage(app: Hono, assets: EditorAssets, options: EditorPageOptions = {}): void {
  const { ancestors, addressTokens = true, countPage } = options;
  // Checked now, so that a mistake in the setting is found at start and not by the first request.
  frameAncestors(ancestors);

  route(app, '/editor', { GET: (c) => c.redirect(`/editor/${new URL(c.req.url).search}`, 308) });

  route(app, '/editor/*', {
    GET: async (c) => {
      const path = decodeURIComponent(encodedPath(c.req.raw).slice('/editor/'.length)) || 'index.html';
      const asset = assets.get(path);
      if (!asset) throw notFound('not-found', 'The editor has no such file.');
      if (!asset.type.startsWith('text/html')) {
        // No ETag: a file with a hash in its name is never revalidated, and any other, such as LICENSES.txt, is not cached.
        c.header('cache-control', hashedName.test(path) ? 'public, max-age=31536000, immutable' : 'no-store');
        return sendAsset(c, asset);
      }
      await countPage?.(c);
      const nonce = randomBytes(18).toString('base64url');
      const html = new TextDecoder()
        .decode(asset.body)
        .replaceAll(nonceMarker, nonce)
        .replaceAll(addressTokensMarker, addressTokens ? 'on' : 'off');
      // Not to be cached, because a nonce is for one response only. An ETag would be of no use: no two pages are the same.
      c.header('cache-control', 'no-store');
      c.header('content-security-policy', pagePolicy(nonce, frameAncestors(ancestors)));
      return sendPage(c, { body: new TextEncoder().encode(html), type: asset.type });
    },
  });
}

/** Responds with a file, compressed where the build did that. */
function sendAsset(c: Context, { body, type, compressed = {} }: EditorAsset): Response {
  const available = contentEncodings.filter((name) => compressed[name]);
  const encoding = chooseEncoding(c.req.header('accept-encoding'), available);
  return send(c, type, (encoding && compressed[encoding]) ?? body, encoding);
}

/** Responds with a page that was made for this request, and so can only be compressed now. */
function sendPage(c: Context, { body, type }: EditorAsset): Response {
  const encoding = chooseEncoding(c.req.header('accept-encoding'), contentEncodings);
  return send(c, type, encoding ? compressQuickly(body, encoding) : body, encoding);
}

function send(c: Context, type: string, body: Bytes, encoding: ContentEncoding | undefined): Response {
  c.header('content-type', type);
  c.header('content-length', `${body.byteLength}`);
  // Also on an uncompressed response: a cache must not serve it to a client that accepts another encoding.
  c.header('vary', 'accept-encoding');
  c.header('referrer-policy', 'no-referrer');
  if (encoding) c.header('content-encoding', encoding);
  return c.body(body);
}

// The nonce is for the style elements that the text editor makes; scripts come only from files.
const pagePolicy = (nonce: string, ancestors: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
