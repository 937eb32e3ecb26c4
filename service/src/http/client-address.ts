import { BlockList, isIP } from 'node:net';
import type { Context } from 'hono';

/** Of which addresses the word on who the client is counts. */
export type TrustedProxies = Pick<BlockList, 'check'>;

/** The client's IP address: the rightmost one that is no trusted proxy's. `undefined` where the server does not say. */
export function clientAddress(c: Context, trusted: TrustedProxies): string | undefined {
  const peer = peerAddress(c);
  if (peer === undefined) return undefined;
  const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim());
  let client = peer;
  while (isTrusted(client, trusted)) {
    const before = withoutPort(forwarded.pop() ?? '');
    // What is no address was not written by a proxy that is to be trusted.
    if (!isIP(before)) return client;
    client = before;
  }
  return client;
}

/**
 * What counts as one client: an address of IPv4, or the /64 of one of IPv6, of which every customer of a provider has at
 * least one to choose addresses from.
 */
export function clientNetwork(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  const groups = groupsOf(plain);
  const mapped = mappedAddress(groups);
  return mapped ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/** The eight groups of an address of IPv6, in hex without leading zeros. */
function groupsOf(address: string): string[] {
  // URLs hold addresses in the one form of RFC 5952.
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = written.split('::');
  const split = (part: string) => (part ? part.split(':') : []);
  const [before, after] = [split(head), split(tail ?? '')];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** The address of IPv4 that is written as one of IPv6 where a socket takes both. */
function mappedAddress(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function peerAddress(c: Context): string | undefined {
  const env: unknown = c.env;
  const incoming = (env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)?.incoming;
  return incoming?.socket?.remoteAddress;
}

function isTrusted(address: string, trusted: TrustedProxies): boolean {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return trusted.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (text: string) =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
