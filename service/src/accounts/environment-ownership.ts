import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import * as z from 'zod';
import { isMailProvider } from './mail-providers.ts';

const mailSchema = z.email({ pattern: z.regexes.html5Email });

/**
 * Normalizes an e-mail address for storage: in lower case, with the domain in ASCII (`bücher.de` → `xn--bcher-kva.de`) and without
 * a trailing period. The part before the `@` is kept: `you+news@…` counts as another address than `you@…`, because only the mail
 * server knows whether they are the same. `undefined` when the text is not an address.
 */
export function readMailAddress(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  const email = `${address.slice(0, Math.max(address.lastIndexOf('@'), 0))}@${domainOf(address)}`;
  return email.length <= 254 && mailSchema.safeParse(email).success ? email : undefined;
}

/** The default environment of an e-mail address: its domain, reversed, such as `uk.co.acme.mail` for `you@mail.acme.co.uk`. */
export const defaultEnvironment = (email: string): string => reverseLabels(domainOf(email));

/**
 * Returns why an e-mail address cannot own an environment, as a message for its user; `undefined` if it can. An address owns its
 * domain, reversed, and every name below it: `you@acme.co.uk` owns `uk.co.acme` and what begins with `uk.co.acme.`, and
 * `you@acme.zendesk.com` what begins with `com.zendesk.acme`, but not `com.zendesk`, where others have addresses, too. An address at
 * a mail provider owns nothing, because it proves nothing about the domain.
 */
export function findOwnershipProblem(email: string, environment: string): string | undefined {
  const domain = domainOf(email);
  // With private suffixes: somebody with a page at acme.github.io must not own io.github.
  const registered = getDomain(domain, { allowPrivateDomains: true, extractHostname: false });
  if (!registered) {
    return `${domain || email} is no domain that somebody can register, such as acme.com or acme.co.uk, so an address there owns no environment. ${others}`;
  }
  const provider = parentsOf(domain, registered).find(isMailProvider);
  if (provider !== undefined) {
    return `Anybody can get an address at ${provider}, so one there owns no environment. Use an address at your own domain. ${others}`;
  }
  if (beginsWith(environment, domain)) return undefined;
  const own = reverseLabels(domain);
  return `The environment ${environment} is not of the domain ${domain}: with ${email} it can be ${own}, or begin with "${own}.". ${others}`;
}

const others = 'Whoever operates the service can make a token for any environment.';

/** The domain of an address, in lower-case ASCII and without a trailing period. */
const domainOf = (email: string): string =>
  domainToASCII(email.slice(email.lastIndexOf('@') + 1)).replace(/\.$/, '');

const reverseLabels = (domain: string): string => domain.split('.').toReversed().join('.');

/** Whether an environment begins with a domain, reversed. Compared in ASCII: `de.bücher` belongs to xn--bcher-kva.de. */
function beginsWith(environment: string, domain: string): boolean {
  const first = environment.split('.').slice(0, domain.split('.').length);
  return domainToASCII(first.toReversed().join('.')) === domain;
}

/** A domain and its parent domains, up to the registered one. */
function parentsOf(domain: string, registered: string): string[] {
  const labels = domain.split('.');
  const below = labels.length - registered.split('.').length;
  return Array.from({ length: below + 1 }, (_, i) => labels.slice(i).join('.'));
}
