import type { MiddlewareHandler } from 'hono';
import { Refusal } from './refusals.ts';

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
