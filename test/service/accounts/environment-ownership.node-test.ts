import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaultEnvironment,
  findOwnershipProblem,
  readMailAddress,
} from '../../../service/src/accounts/environment-ownership.ts';

test('an environment comes from the domain of an address', () => {
  assert.equal(defaultEnvironment('you@example.com'), 'com.example');
  assert.equal(defaultEnvironment('you@mail.acme.co.uk'), 'uk.co.acme.mail');
  assert.equal(defaultEnvironment('you@xn--bcher-kva.de'), 'de.xn--bcher-kva');
});

const owned: readonly (readonly [email: string, environment: string])[] = [
  ['you@acme.co.uk', 'uk.co.acme'],
  ['you@acme.co.uk', 'uk.co.acme.shop'],
  ['you@acme.co.uk', 'uk.co.acme.Shop-2.x_y'],
  // An address of a subdomain owns that alone: at sites such as Zendesk, each customer has one.
  ['you@acme.zendesk.com', 'com.zendesk.acme'],
  ['you@acme.zendesk.com', 'com.zendesk.acme.shop'],
  ['you@mail.acme.co.uk', 'uk.co.acme.mail'],
  ['you+plugins@acme.com', 'com.acme'],
  ['"odd@local"@acme.com', 'com.acme'],
  // The demo's, although a list of mail providers has it.
  ['you@example.com', 'com.example'],
  // A domain that one can have below a site for everybody.
  ['you@acme.github.io', 'io.github.acme'],
  // Exceptions of the public suffix list, and a suffix of two labels below a wildcard.
  ['you@city.kawasaki.jp', 'jp.kawasaki.city'],
  ['you@a.b.kawasaki.jp', 'jp.kawasaki.b.a'],
  // Names that no registry gives away: whoever runs that network decides.
  ['evil@evil.test', 'test.evil'],
  ['you@acme.corp', 'corp.acme'],
  ['you@acme.localhost', 'localhost.acme'],
  // Upper case, other alphabets and their form in ASCII are the same domain.
  ['you@acme.com', 'COM.Acme'],
  ['you@ACME.com', 'com.acme'],
  ['you@acme.com.', 'com.acme'],
  ['you@xn--bcher-kva.de', 'de.xn--bcher-kva'],
  ['you@xn--bcher-kva.de', 'de.bücher.laden'],
  ['you@bücher.de', 'de.xn--bcher-kva'],
  ['you@163.example', 'example.163'],
];

test('an address owns the environments that begin with its domain', () => {
  for (const [email, environment] of owned)
    assert.equal(findOwnershipProblem(email, environment), undefined, `${email} ${environment}`);
});

const foreign: readonly (readonly [email: string, environment: string])[] = [
  ['attacker@evil.test', 'com.example'],
  ['you@acme.co.uk', 'uk.co'],
  ['you@acme.co.uk', 'uk'],
  ['you@acme.co.uk', 'uk.co.acmes'],
  ['you@acme.co.uk', 'uk.co.acm'],
  ['you@acme.co.uk', 'uk.co.other'],
  ['you@acme.co.uk', 'acme'],
  ['you@acme.co.uk', 'acme.co.uk'],
  ['you@acme.co.uk', 'com.acme'],
  ['you@acme.github.io', 'io.github'],
  ...[
    'zendesk.com',
    'atlassian.net',
    'onmicrosoft.com',
    'freshdesk.com',
    'myshopify.com',
    'slack.com',
  ].flatMap((site): [string, string][] => {
    const name = defaultEnvironment(`@${site}`);
    return [
      [`eve@acme.${site}`, name],
      [`eve@acme.${site}`, `${name}.other`],
      [`eve@acme.${site}`, `${name}.acmes`],
    ];
  }),
  ['you@mail.acme.co.uk', 'uk.co.acme'],
  ['you@mail.acme.co.uk', 'uk.co.acme.other'],
  ['you@acme.github.io', 'io.github.other'],
  ['you@com.acme.evil.test', 'com.acme'],
  ['com.acme@evil.test', 'com.acme'],
  ['you@acme.com@evil.test', 'com.acme'],
  // A letter of another alphabet that looks the same.
  ['you@xn--cme-7cd.com', 'com.acme'],
];

test('an address owns no environment of another domain, and the error names what it can own', () => {
  for (const [email, environment] of foreign) {
    const reason = findOwnershipProblem(email, environment) ?? '';
    assert.ok(
      reason.startsWith(`The environment ${environment} is not of the domain `),
      `${email} ${environment}`,
    );
    assert.match(reason, /Whoever operates the service can make a token for any environment\.$/);
  }
  assert.match(
    findOwnershipProblem('you@mail.acme.co.uk', 'com.example') ?? '',
    /not of the domain mail\.acme\.co\.uk: with you@mail\.acme\.co\.uk it can be uk\.co\.acme\.mail, or begin with "uk\.co\.acme\.mail\."\./,
  );
});

const providers = [
  'gmail.com',
  'googlemail.com',
  'outlook.com',
  'yahoo.co.uk',
  'proton.me',
  'gmx.de',
  'icloud.com',
  'fastmail.com',
  'tuta.com',
  'posteo.de',
  ...'googlegroups.com groups.io kolabnow.com mailo.com keemail.me posteo.net zohomail.eu'.split(' '),
  ...'simplelogin.io aol.de vodafone.de addymail.com'.split(' '),
  'mailinator.com',
  // A provider of its own below a domain that is none.
  'privaterelay.appleid.com',
  // Users of some providers get a host of their own.
  'someone.fastmail.com',
  // In the list in its own alphabet.
  'xn--mll-hoa.email',
];

test('an address at a mail provider owns nothing, not even an environment named like the provider', () => {
  for (const domain of providers) {
    const email = `you@${domain}`;
    const reason = findOwnershipProblem(email, defaultEnvironment(email)) ?? '';
    assert.match(reason, /^Anybody can get an address at .*Use an address at your own domain\./, domain);
    assert.match(reason, /Whoever operates the service can make a token for any environment\.$/);
  }
});

test('an address at a domain that nobody registered owns nothing', () => {
  const domains = [
    'co.uk',
    'com',
    'github.io',
    'blogspot.com',
    'x.ck',
    'localhost',
    '127.0.0.1',
    '[::1]',
    '1',
    '',
  ];
  for (const domain of domains) {
    const email = `you@${domain}`;
    const reason = findOwnershipProblem(email, defaultEnvironment(email) || 'com.acme') ?? '';
    assert.match(reason, /is no domain that somebody can register, such as acme\.com/, domain);
  }
});

test('an address is normalised to one form, and text that is no address is refused', () => {
  const read: Record<string, string> = {
    ' You@Acme.COM ': 'you@acme.com',
    'you@acme.com.': 'you@acme.com',
    'you+news@acme.com': 'you+news@acme.com',
    'you@Bücher.de': 'you@xn--bcher-kva.de',
  };
  for (const [text, email] of Object.entries(read)) assert.equal(readMailAddress(text), email, text);
  const none = [
    '',
    'you',
    '@acme.com',
    'you@',
    'you@.',
    'you@acme..com',
    'you@a b.com',
    'you@acme.com,x@y.z',
  ];
  for (const text of [
    ...none,
    'you@acme.com\r\nbcc: x@acme.com',
    `${'x'.repeat(250)}@acme.com`,
    'yöu@acme.com',
  ])
    assert.equal(readMailAddress(text), undefined, text);
});
