import type { Context, Hono, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Assets } from '../build.ts';

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
