import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import { isMailProvider } from './mail-providers.ts';

/**
 * The environment that goes with an address by itself: its domain from the top, `you@mail.acme.co.uk` →
 * `uk.co.acme.mail`.
 */
export const defaultEnvironment = (email: string): string => reverseLabels(domainOf(email));

/**
 * Why an address cannot prove that an environment is its own, in words for the person who asked; `undefined` when it can.
 * An environment belongs to the registered domain that its name begins with, from the top: `you@acme.co.uk` can own
 * `uk.co.acme` and all that begins with `uk.co.acme.`. An address at a mail provider proves nothing about its domain.
 */
export function findOwnershipProblem(email: string, environment: string): string | undefined {
  const domain = domainOf(email);
  // Private suffixes too: whoever has a page at acme.github.io must not own what all of github.io is.
  const registered = getDomain(domain, { allowPrivateDomains: true, extractHostname: false });
  if (!registered) {
    return `${domain || email} is no domain that somebody can register, such as acme.com or acme.co.uk, so an address there owns no environment. ${others}`;
  }
  const provider = parentsOf(domain, registered).find(isMailProvider);
  if (provider !== undefined) {
    return `Anybody can get an address at ${provider}, so one there owns no environment. Use an address at a domain of your own. ${others}`;
  }
  if (beginsWith(environment, registered)) return undefined;
  const own = reverseLabels(registered);
  return `The environment ${environment} is not of the domain ${registered}: with ${email} it can be ${own}, or begin with "${own}.". ${others}`;
}

const others = 'Whoever operates the service can make a token for any environment.';

/** In lower-case ASCII, and without the period that may end it. */
const domainOf = (email: string): string =>
  domainToASCII(email.slice(email.lastIndexOf('@') + 1)).replace(/\.$/, '');

const reverseLabels = (domain: string): string => domain.split('.').toReversed().join('.');

/** Names are compared as domains are: `de.bücher` and `de.xn--bcher-kva` are both of xn--bcher-kva.de. */
function beginsWith(environment: string, registered: string): boolean {
  const first = environment.split('.').slice(0, registered.split('.').length);
  return domainToASCII(first.toReversed().join('.')) === registered;
}

/** A domain and those above it, down to the registered one. */
function parentsOf(domain: string, registered: string): string[] {
  const labels = domain.split('.');
  const below = labels.length - registered.split('.').length;
  return Array.from({ length: below + 1 }, (_, i) => labels.slice(i).join('.'));
}
