import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clientNetwork, forwardedAddress } from '../../../service/src/http/client-address.ts';
import { toBlockList } from '../../../service/src/settings/setting-kinds.ts';

const trusted = toBlockList(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);

describe('the address of the client', () => {
  for (const [what, peer, header, expected] of [
    ['is that of the connection without a proxy', '198.51.100.7', undefined, '198.51.100.7'],
    [
      'is that of the connection where the header is not from a trusted proxy',
      '198.51.100.7',
      '203.0.113.9',
      '198.51.100.7',
    ],
    ['is the one that a trusted proxy names', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    [
      'is the rightmost one that is not of a trusted proxy',
      '10.0.0.1',
      '203.0.113.9, 192.0.2.1, fd00::1',
      '203.0.113.9',
    ],
    [
      'is not one that the client made up, which stands further left',
      '10.0.0.1',
      '1.1.1.1, 203.0.113.9',
      '203.0.113.9',
    ],
    ['is that of the proxy where the proxy names none', '10.0.0.1', undefined, '10.0.0.1'],
    ['is the leftmost one where all are of trusted proxies', '10.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
    ['is searched no further than a text that is no address', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['has no port', '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['has no brackets', 'fd00::1', '[2001:DB8::1]:4711', '2001:db8::1'],
    ['is IPv4 where it is IPv4 in IPv6', '::ffff:10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
    ['is unknown without a connection', undefined, '203.0.113.9', undefined],
  ] as const) {
    test(what, () => {
      assert.equal(forwardedAddress(peer, header, trusted), expected);
    });
  }
});

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
