import type { Hono } from 'hono';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { ENVIRONMENT } from './accounts.ts';
import { Refusal } from './refusals.ts';

/** What there is of each article. */
const stock: Readonly<Record<string, number>> = { 'B-104': 18, 'B-310': 240, 'C-220': 2, 'H-002': 0 };

/**
 * Larder's API for the plugins of its customers. The plugin service signs who asks into each request, so that a plugin needs no
 * secret. In production `issuer` and `audience` are two fixed addresses.
 */
export function serveStock(app: Hono, builderUrl: string): void {
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', builderUrl));
  const { port } = new URL(builderUrl);
  const issuer = ['localhost', '127.0.0.1'].map((host) => `http://${host}:${port}`);

  app.get('/api/stock/:sku', async (c) => {
    const token = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
    // A token for another API must not open this one, nor one for the plugins of another vendor, who may name any origin.
    const { payload } = await jwtVerify(token, keys, { issuer, audience: new URL(c.req.url).origin }).catch(
      (error: unknown) => {
        throw new Refusal(401, 'not-a-plugin', `Only plugins may ask: ${(error as Error).message}.`);
      },
    );
    if (payload['environment'] !== ENVIRONMENT) {
      throw new Refusal(403, 'forbidden', 'Only plugins of Larder’s customers may ask.');
    }
    const sku = c.req.param('sku');
    if (!Object.hasOwn(stock, sku)) throw new Refusal(404, 'not-found', 'There is no such article.');
    return c.json({ sku, inStock: stock[sku], for: payload['tenant'] });
  });
}
