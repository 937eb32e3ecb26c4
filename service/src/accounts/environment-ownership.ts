import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import { isMailProvider } from './mail-providers.ts';

/** The default environment of an e-mail address: its domain, reversed, such as `uk.co.acme.mail` for `you@mail.acme.co.uk`. */
export const defaultEnvironment = (email: string): string => reverseLabels(domainOf(email));

/**
 * Finds out why an e-mail address cannot own an environment, as a message for its user; `undefined` when it can. The name of an
 * environment begins with the registered domain that it belongs to, reversed: `you@acme.co.uk` can own `uk.co.acme` and every name
 * that begins with `uk.co.acme.`. An address at a mail provider cannot own one, because it proves nothing about the domain.
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
    return `Anybody can get an address at ${provider}, so one there owns no environment. Use an address at a domain of your own. ${others}`;
  }
  if (beginsWith(environment, registered)) return undefined;
  const own = reverseLabels(registered);
  return `The environment ${environment} is not of the domain ${registered}: with ${email} it can be ${own}, or begin with "${own}.". ${others}`;
}

const others = 'Whoever operates the service can make a token for any environment.';

/** The domain of an address, in lower-case ASCII and without a trailing period. */
const domainOf = (email: string): string =>
  domainToASCII(email.slice(email.lastIndexOf('@') + 1)).replace(/\.$/, '');

const reverseLabels = (domain: string): string => domain.split('.').toReversed().join('.');

/** Whether an environment begins with a domain, reversed. Compared in ASCII: `de.bücher` belongs to xn--bcher-kva.de. */
function beginsWith(environment: string, registered: string): boolean {
  const first = environment.split('.').slice(0, registered.split('.').length);
  return domainToASCII(first.toReversed().join('.')) === registered;
}

/** A domain and its parent domains, up to the registered one. */
function parentsOf(domain: string, registered: string): string[] {
  const labels = domain.split('.');
  const below = labels.length - registered.split('.').length;
  return Array.from({ length: below + 1 }, (_, i) => labels.slice(i).join('.'));
}
