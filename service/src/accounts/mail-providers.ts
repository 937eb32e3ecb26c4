import { domainToASCII } from 'node:url';
import listed from 'email-providers/all.json' with { type: 'json' };

// Well-known providers that the list does not have.
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

// The list has this one, which is reserved for examples: nobody gets mail there, and the demo's environment is of it.
const reserved = 'example.com';

const providers = new Set([...listed.map((domain) => domainToASCII(domain)), ...unlisted]);
providers.delete(reserved);

/** Whether anybody can get an address at this domain. It is in lower-case ASCII; its subdomains are not looked at. */
export const isMailProvider = (domain: string): boolean => providers.has(domain);
