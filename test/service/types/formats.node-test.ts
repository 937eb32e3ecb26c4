import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { NamespaceFinding } from '../../../service/src/sandbox/namespace-check.ts';
import { formats } from '../../../service/src/toolchains/schemas/formats.ts';
import { startSchemaTools } from './schema-tools.ts';

const { sandbox, compilePair, owner } = startSchemaTools();

const label = 'a'.repeat(63);

/** Texts of each format, and others. */
const cases: Readonly<
  Record<string, { readonly valid: readonly string[]; readonly invalid: readonly string[] }>
> = {
  date: {
    valid: ['2026-03-31', '2024-02-29', '2000-02-29', '0000-01-01'],
    invalid: [
      'tomorrow',
      '2026-02-29',
      '1900-02-29',
      '2026-04-31',
      '2026-13-01',
      '2026-00-10',
      '2026-1-1',
      '2026-01-32',
      '26-01-01',
      '2026-01-01T00:00:00Z',
      '২026-01-0',
      '2026-01-00',
    ],
  },
  time: {
    valid: ['14:30:00Z', '14:30:00z', '00:00:00.123+01:00', '23:59:60Z', '22:59:60-01:00', '01:29:60+01:30'],
    invalid: [
      '14:30:00',
      '14:30Z',
      '24:00:00Z',
      '12:60:00Z',
      '12:00:61Z',
      '22:59:60Z',
      '12:00:00+24:00',
      '12:00:00+1:00',
      '12:00:00.Z',
      '14.30',
    ],
  },
  'date-time': {
    valid: [
      '2026-03-31T14:30:00Z',
      '2026-03-31t14:30:00.5+02:00',
      '1998-12-31T23:59:60Z',
      '1998-12-31T15:59:60.123-08:00',
    ],
    invalid: [
      '2026-03-31',
      '2026-02-30T00:00:00Z',
      '2026-03-31 14:30:00Z',
      '2026-03-31T14:30:00',
      '2026-03-31T25:00:00Z',
      '1998-12-31T22:59:60Z',
      '2026-03-31T14:30Z',
      'now',
    ],
  },
  duration: {
    valid: ['P1D', 'P1Y2M3DT4H5M6S', 'PT36H', 'P4W', 'PT0.5S', 'P0D', 'P1Y3D'],
    invalid: [
      'P',
      'PT',
      'P1YT',
      '1D',
      'P1',
      'P1S',
      'PT1D',
      'P1W2D',
      'P2D1Y',
      'P-1D',
      'P1.5D',
      'p1d',
      '-P1D',
      'P১Y',
    ],
  },
  email: {
    valid: [
      'ada@example.com',
      "a.b+c'd@example.co.uk",
      '"ada b"@example.com',
      'a@b',
      'te~st@example.com',
      '"a@b"@example.com',
      'ada@[192.0.2.1]',
      'ada@[IPv6:2001:db8::1]',
      'ada@[IPv6:1:2:3:4:5:6:7:8]',
      'ada@[ipv6:::ffff:192.0.2.1]',
    ],
    invalid: [
      'nobody',
      'ada@[192.0.2.256]',
      'ada@[192.0.2]',
      'ada@[001.2.3.4]',
      'ada@[IPv6:x]',
      'ada@[IPv6:dead]',
      'ada@[IPv6:....]',
      'ada@[IPv6:1::2::3]',
      'ada@[IPv6:1:2:3:4:5:6:7:8:9]',
      'ada@[2001:db8::1]',
      'ada@[example.com]',
      'ada@[192.0.2.1',
      '@example.com',
      'ada@',
      '.a@example.com',
      'a.@example.com',
      'a..b@example.com',
      'a@b@c',
      'a b@example.com',
      'a@-b.com',
      'a@b..com',
      'a@ex ample.com',
      'Ada <ada@example.com>',
      `${'a'.repeat(65)}@example.com`,
      'ä@example.com',
    ],
  },
  uuid: {
    valid: [
      '2eb8aa08-aa98-11ea-b4aa-73b441d16380',
      '2EB8AA08-AA98-11EA-B4AA-73B441D16380',
      '00000000-0000-0000-0000-000000000000',
    ],
    invalid: [
      '2eb8aa08aa9811eab4aa73b441d16380',
      '2eb8aa08-aa98-11ea-b4aa-73b441d1638',
      '2eb8aa08-aa98-11ea-b4aa-73b441d1638g',
      '{2eb8aa08-aa98-11ea-b4aa-73b441d163}',
      '2eb8-aa08-aa98-11ea-b4aa73b44-1d16380',
    ],
  },
  uri: {
    valid: [
      'https://example.com/',
      'http://foo.bar:8080/?baz=qux#quux',
      "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
      'ldap://[2001:db8::7]/c=GB?objectClass?one',
      'mailto:ada@example.com',
      'urn:oasis:names',
      'tel:+1-816-555-1212',
      'a:',
      'file:///etc/hosts',
      'http://[::1]:80/',
      'data:,a%20b',
    ],
    invalid: [
      '//foo.bar/?baz',
      '/abc',
      'abc',
      'http:// fail.com',
      ':// fail',
      'bar,baz:foo',
      'https://[@example.org/',
      'https://example.org/foobar\\.txt',
      'https://example.org/foobar<>.txt',
      'https://example.org/{}',
      'https://example.org/^',
      'https://example.org/`',
      'https://example.org/|',
      'https://example.org/%zz',
      'https://example.org/#a#b',
      'https://example.org/[a]',
      'https://a@b@c/',
      'http://2001:db8::7/',
      'https://example.org:x/',
      'https://ä.example/',
      'http://[::1',
      'http://[zz]/',
      'a:[',
      '1a:b',
      'a:b\n',
    ],
  },
  hostname: {
    valid: [
      'example.com',
      'xn--4gbwdl.xn--wgbh1c',
      'a',
      '1.2',
      `${label}.${label}.${label}.${label.slice(2)}`,
    ],
    invalid: [
      '',
      '.',
      '-a.com',
      'a-.com',
      'a..b',
      'a_b.com',
      'a b',
      `${label}a.com`,
      `${label}.${label}.${label}.${label}`,
      'exämple.com',
      'a.',
      'a\n',
    ],
  },
  ipv4: {
    valid: ['192.168.0.1', '0.0.0.0', '255.255.255.255'],
    invalid: [
      '256.0.0.1',
      '127.0.0',
      '127.0.0.0.1',
      '087.10.0.1',
      '0x7f.0.0.1',
      '2130706433',
      '1.2.3.',
      '192.168.0.1/24',
      '1২7.0.0.1',
      ' 1.2.3.4',
      '1.2.3.4\n',
    ],
  },
  ipv6: {
    valid: [
      '::1',
      '::',
      '1::',
      'fe80::abcd',
      '2001:db8:85a3:8d3:1319:8a2e:370:7348',
      '::ffff:192.168.0.1',
      '1:2:3:4:5:6:1.2.3.4',
      '1::d6:192.168.0.1',
      '::42:ff:1',
      '1:2:3:4:5:6:7::',
    ],
    invalid: [
      '12345::',
      '1:1:1:1:1:1:1:1:1',
      '::laptop',
      '1::2::3',
      ':1',
      '1:',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8::',
      ':2:3:4:5:6:7:8',
      '::1%eth0',
      'fe80::/64',
      '::1.2.3',
      '::256.0.0.1',
      '1.2.3.4',
      '1.2.3.4::',
      '100:100:100:100:100:100:255.255.255.255.255',
      '',
      ':::',
      '1:2:3:4:5:6:7:1.2.3.4',
    ],
  },
};

test('each format accepts its texts and no others', async () => {
  assert.deepEqual(Object.keys(cases), Object.keys(formats));
  for (const [format, { valid, invalid }] of Object.entries(cases)) {
    const end = await compilePair({ input: { format } });
    assert.ok('declarations' in end);
    const program = loadedProgram({
      kind: 'check',
      types: { schemas: {}, inputCheck: end.inputCheck ?? '' },
    });
    const fits = async (values: readonly unknown[]) => {
      const json = values.map((value) => ({ direction: 'input', json: JSON.stringify(value) }));
      const outcome = await sandbox.run({ program, input: JSON.stringify({ values: json }), owner });
      assert.ok('result' in outcome, JSON.stringify(outcome));
      return (JSON.parse(outcome.result) as NamespaceFinding).value;
    };
    // A format says nothing about values that are not text.
    const wrong = await fits([...valid, 1, null, {}]);
    assert.equal(wrong, undefined, `${format}: ${valid[wrong ?? 0]} should fit`);
    for (const text of invalid) assert.equal(await fits([text]), 0, `${format}: ${text} should not fit`);
  }
});

test('the editor checks formats as the service does', () => {
  const [service, editor] = ['service/src/toolchains/schemas', 'editor/src/types'].map((folder) =>
    readFileSync(`${import.meta.dirname}/../../../${folder}/formats.ts`, 'utf8'),
  );
  assert.equal(editor, service);
});

test('a hostile text of 1 MB is read in linear time', () => {
  // A function that is not linear takes hours for one of these.
  const parts = ['a', '1', '.', ':', '-', '%41', '[', 'a.', '1:', '@a', 'a@', '"', '::', '\\"', '\n'];
  for (const [format, check] of Object.entries(formats)) {
    for (const start of ['', 'P', 'http://', 'a:', '"', '2026-03-31T14:30:00.']) {
      for (const part of parts) {
        for (const end of ['', '!', '@']) {
          const fits = check(start + part.repeat(2 ** 20 / part.length) + end);
          assert.equal(fits, false, `${format} ${start}${part}${end}`);
        }
      }
    }
  }
});
