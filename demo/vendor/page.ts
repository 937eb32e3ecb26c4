import type { Context, Hono, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Assets } from '../page-files.ts';
import { Refusal } from './refusals.ts';

/** What the page may load and who may frame it: its own files, and the plugin service. */
export const pageHeaders = (serviceOrigin: (c: Context) => string): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'", serviceOrigin],
      frameSrc: [serviceOrigin],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ['lit-html'],
    },
    referrerPolicy: 'strict-origin-when-cross-origin',
    xFrameOptions: 'DENY',
    // Loopback is served without TLS.
    strictTransportSecurity: false,
  });

/** Serves the page from memory. */
export function servePage(app: Hono, assets: Assets): void {
  for (const [path, { body, type }] of assets) {
    const page = path === 'index.html';
    const headers = {
      'content-type': type,
      // All but the page itself have names made from their content.
      'cache-control': page ? 'no-cache' : 'public, max-age=31536000, immutable',
    };
    app.get(page ? '/' : `/${path}`, (c) => c.body(body, 200, headers));
  }
}

/**
 * Refuses a request whose host is not one of `hosts`, as in an attack by DNS rebinding.
 * @param hosts as in the `Host` header, such as `localhost:5173`; read at every request
 */
export const checkHost =
  (hosts: readonly string[]): MiddlewareHandler =>
  async (c, next) => {
    const isKnown = (host: string) => hosts.includes(host.toLowerCase());
    const { host } = new URL(c.req.url);
    // A request line may have an absolute URL. Then its host and that of the header must both be known.
    if (!isKnown(host) || !isKnown(c.req.header('host') ?? host)) {
      throw new Refusal(421, 'misdirected', `This app answers to ${hosts.join(', ')} only.`);
    }
    await next();
  };
