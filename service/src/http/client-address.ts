import { BlockList, isIP } from 'node:net';
import type { Context } from 'hono';

/** Nobody is trusted. */
const nobody = new BlockList();

/**
 * The address of the client that asks: of its connection, or, where that is one of the trusted proxies, the rightmost address
 * of `X-Forwarded-For` that is none of them. What stands to the left of that, anybody may have made up. `undefined` where
 * the request came by no connection.
 */
export function clientAddress(c: Context, trusted: BlockList = nobody): string | undefined {
  const env: unknown = c.env;
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return forwardedAddress(incoming?.socket?.remoteAddress, c.req.header('x-forwarded-for'), trusted);
}

/** @param forwardedFor the values of `X-Forwarded-For`, between commas */
export function forwardedAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: BlockList,
): string | undefined {
  let client = peer === undefined ? undefined : toAddress(peer);
  for (const entry of (forwardedFor ?? '').split(',').toReversed()) {
    if (client === undefined || !isTrusted(client, trusted)) return client;
    const next = toAddress(entry.trim());
    // A proxy that did not say who asked it: it is all that is known.
    if (next === undefined) return client;
    client = next;
  }
  return client;
}

const isTrusted = (address: string, trusted: BlockList) =>
  trusted.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** An address without port, brackets and zone; an IPv4 address that is written as IPv6 becomes one of IPv4. */
function toAddress(text: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(address) ? address.toLowerCase() : undefined;
}
