import { domainToASCII } from 'node:url';
import listed from 'email-providers/all.json' with { type: 'json' };

// Well-known providers that are missing from the package's list.
const unlisted = [
  'addy.io',
  'aleeas.com',
  'anonaddy.com',
  'anonaddy.me',
  'disroot.org',
  'duck.com',
  'fastmail.com',
  'mailfence.com',
  'migadu.com',
  'mozmail.com',
  'passmail.net',
  'posteo.de',
  'riseup.net',
  'simplelogin.com',
  'slmail.me',
  'sohu.com',
  'startmail.com',
  'telia.com',
  'tuta.com',
  'tuta.io',
  'tutamail.com',
  'tutanota.com',
  'ziggo.nl',
  'zohomail.com',
];

// The package's list contains this domain, which is reserved for examples: nobody has mail there, and the demo uses it.
const reserved = 'example.com';

const providers = new Set([...listed.map((domain) => domainToASCII(domain)), ...unlisted]);
providers.delete(reserved);

/** Whether anybody can get an address at this domain, which must be in lower-case ASCII. Parent domains are not checked. */
export const isMailProvider = (domain: string): boolean => providers.has(domain);
