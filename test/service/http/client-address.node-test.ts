import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { clientAddress, clientNetwork } from '../../../service/src/http/client-address.ts';
import { toBlockList } from '../../../service/src/settings/setting-kinds.ts';

const trusted = toBlockList(['10.0.0.0/8', '192.0.2.1', 'fd00::/8']);

/** Whom the service takes for the client of a request that comes from `peer`. */
async function clientOf(peer: string | undefined, forwardedFor?: string): Promise<string | undefined> {
  let found: string | undefined;
  const app = new Hono().get('/', (c) => {
    found = clientAddress(c, trusted);
    return c.body(null);
  });
  const headers: HeadersInit = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  await app.fetch(new Request('http://localhost/', { headers }), {
    incoming: { socket: { remoteAddress: peer } },
  });
  return found;
}

for (const [what, peer, forwardedFor, client] of [
  ['a client that is no proxy', '203.0.113.5', undefined, '203.0.113.5'],
  ['a client that says that it is a proxy', '203.0.113.5', '198.51.100.7', '203.0.113.5'],
  ['the client of a proxy', '10.1.2.3', '198.51.100.7', '198.51.100.7'],
  ['what a client says to a proxy', '10.1.2.3', '127.0.0.1, 198.51.100.7', '198.51.100.7'],
  ['the client of two proxies', '10.1.2.3', '198.51.100.7, 192.0.2.1', '198.51.100.7'],
  ['a proxy of IPv4 on a socket of IPv6', '::ffff:10.1.2.3', '198.51.100.7', '198.51.100.7'],
  ['a proxy of IPv6', 'fd00::1', '2001:db8::1', '2001:db8::1'],
  ['addresses with ports', '10.1.2.3', '[2001:db8::1]:4711, 192.0.2.1:80', '2001:db8::1'],
  ['a proxy that asks for itself', '10.1.2.3', undefined, '10.1.2.3'],
  ['proxies alone', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
  ['what is no address', '10.1.2.3', '198.51.100.7, unknown', '10.1.2.3'],
  ['a request without a socket', undefined, '198.51.100.7', undefined],
] as const) {
  test(`the client's address is told: ${what}`, async () => {
    assert.equal(await clientOf(peer, forwardedFor), client);
  });
}

for (const [address, network] of [
  ['203.0.113.5', '203.0.113.5'],
  ['::ffff:203.0.113.5', '203.0.113.5'],
  ['::FFFF:cb00:7105', '203.0.113.5'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
] as const) {
  test(`${address} counts as ${network}`, () => {
    assert.equal(clientNetwork(address), network);
  });
}
