import { domainToASCII } from 'node:url';
import listed from 'email-providers/all.json' with { type: 'json' };

// Well-known providers that are missing from the package's list.
const unlisted = [
  'addy.io',
  'addymail.com',
  'aleeas.com',
  'anonaddy.com',
  'anonaddy.me',
  'aol.de',
  'autistici.org',
  'dismail.de',
  'disroot.org',
  'duck.com',
  'eclipso.de',
  'eclipso.eu',
  'fastmail.com',
  'googlegroups.com',
  'groups.io',
  'keemail.me',
  'kolabnow.ch',
  'kolabnow.com',
  'mail.de',
  'mailfence.com',
  'mailo.com',
  'mailo.eu',
  'migadu.com',
  'mozmail.com',
  'net-c.com',
  'netaddress.com',
  'onmail.com',
  'passfwd.com',
  'passinbox.com',
  'passmail.net',
  'posteo.de',
  'posteo.net',
  'riseup.net',
  'simplelogin.com',
  'simplelogin.io',
  'skiff.com',
  'slmail.me',
  'sohu.com',
  'soverin.net',
  'startmail.com',
  'swissmail.org',
  'systemli.org',
  'telia.com',
  'tuta.com',
  'tuta.io',
  'tutamail.com',
  'tutanota.com',
  'vodafone.de',
  'ziggo.nl',
  'zoho.eu',
  'zohomail.ca',
  'zohomail.com',
  'zohomail.com.au',
  'zohomail.eu',
  'zohomail.in',
];

// The package's list contains this domain, which is reserved for examples and has no mail. The demo uses it.
const reserved = 'example.com';

const providers = new Set([...listed.map((domain) => domainToASCII(domain)), ...unlisted]);
providers.delete(reserved);

/** Whether anybody can get an address at this domain, which must be in lower-case ASCII. Parent domains are not checked. */
export const isMailProvider = (domain: string): boolean => providers.has(domain);
