import type { MiddlewareHandler } from 'hono';
import { Refusal } from './refusals.ts';

/**
 * Refuses a request whose host is not one of `hosts`: another site's name that was made to resolve to this machine.
 * @param hosts as in the `Host` header, such as `localhost:5173`; read at every request
 */
export const checkHost =
  (hosts: readonly string[]): MiddlewareHandler =>
  async (c, next) => {
    const isKnown = (host: string) => hosts.includes(host.toLowerCase());
    const { host } = new URL(c.req.url);
    // A request line may hold a whole address; then both it and the header have to be right.
    if (!isKnown(host) || !isKnown(c.req.header('host') ?? host)) {
      throw new Refusal(421, 'misdirected', `This app answers to ${hosts.join(', ')} only.`);
    }
    await next();
  };
