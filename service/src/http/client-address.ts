import { BlockList, isIP } from 'node:net';
import type { Context } from 'hono';
import { bindingsOf } from './bindings.ts';

/** The proxies whose `X-Forwarded-For` is believed. */
export type TrustedProxies = Pick<BlockList, 'check'>;

const noProxies: TrustedProxies = new BlockList();

/**
 * The address of the client: that of the connection, or, where that is a trusted proxy, the rightmost address of
 * `X-Forwarded-For` that is not one. The client can make up everything to the left of it. `undefined` where the request did
 * not come by a connection.
 */
export function clientAddress(c: Context, trusted: TrustedProxies = noProxies): string | undefined {
  return forwardedAddress(
    bindingsOf(c).incoming?.socket.remoteAddress,
    c.req.header('x-forwarded-for'),
    trusted,
  );
}

/** @param forwardedFor the values of `X-Forwarded-For`, between commas */
export function forwardedAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string | undefined {
  let client = normalizedAddress(peer);
  for (const entry of (forwardedFor ?? '').split(',').toReversed()) {
    if (client === undefined || !isTrusted(client, trusted)) return client;
    const next = toAddress(entry.trim());
    // The proxy did not pass on an address, so its own is all that is known.
    if (next === undefined) return client;
    client = next;
  }
  return client;
}

/** The address of the peer of a connection, in the form that {@link clientAddress} returns. */
export const normalizedAddress = (peer: string | undefined): string | undefined =>
  peer === undefined ? undefined : toAddress(peer);

/** Whether the peer of a connection is a trusted proxy. */
export function isTrustedPeer(peer: string | undefined, trusted: TrustedProxies): boolean {
  const address = normalizedAddress(peer);
  return address !== undefined && isTrusted(address, trusted);
}

const isTrusted = (address: string, trusted: TrustedProxies) =>
  trusted.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** The zone of an address says which of the machine's networks it is in, as in `fe80::1%eth0`. */
const withoutZone = (address: string): string => address.split('%', 1)[0] ?? '';

/** An address without port, brackets and zone, and as IPv4 where it is IPv4-mapped; `undefined` for what is not an address. */
function toAddress(text: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = withoutZone(bare).replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(address) ? address.toLowerCase() : undefined;
}

/**
 * The network that counts as one client: a single IPv4 address, or the /64 of an IPv6 address, because every customer of a
 * provider has at least a /64 to choose addresses from.
 */
export function clientNetwork(address: string): string {
  const plain = withoutZone(address);
  if (isIP(plain) !== 6) return plain;
  const groups = groupsOf(plain);
  const mapped = mappedAddress(groups);
  return mapped ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/** The eight groups of an address of IPv6, in hex without leading zeros. */
function groupsOf(address: string): string[] {
  // `URL` writes each IPv6 address in one form: in hex, with `::` for the longest run of zeros.
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = written.split('::');
  const split = (part: string) => (part ? part.split(':') : []);
  const [before, after] = [split(head), split(tail ?? '')];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** The IPv4 address of an IPv4-mapped IPv6 address, as a dual-stack socket reports it; `undefined` for any other address. */
function mappedAddress(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
