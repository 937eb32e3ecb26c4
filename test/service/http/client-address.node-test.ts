import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forwardedAddress } from '../../../service/src/http/client-address.ts';
import { toBlockList } from '../../../service/src/settings/setting-kinds.ts';

const trusted = toBlockList(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);

for (const [what, peer, header, expected] of [
  ['without a proxy it is that of the connection', '198.51.100.7', undefined, '198.51.100.7'],
  ['who is no trusted proxy is not believed', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
  ['a trusted proxy is believed', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['of several proxies each is left out', '10.0.0.1', '203.0.113.9, 192.0.2.1, fd00::1', '203.0.113.9'],
  ['what a client made up stands to the left', '10.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['a proxy that says nothing is the client', '10.0.0.1', undefined, '10.0.0.1'],
  ['a client within the ranges is the leftmost', '10.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
  ['what is no address ends the search', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
  ['ports are left out', '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  ['brackets are left out', 'fd00::1', '[2001:DB8::1]:4711', '2001:db8::1'],
  ['IPv4 in IPv6 is IPv4', '::ffff:10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['a request without a connection has none', undefined, '203.0.113.9', undefined],
] as const) {
  test(`the address of the client: ${what}`, () => {
    assert.equal(forwardedAddress(peer, header, trusted), expected);
  });
}
