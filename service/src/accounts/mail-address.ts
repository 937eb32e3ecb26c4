import { domainToASCII } from 'node:url';
import * as z from 'zod';

const schema = z.email({ pattern: z.regexes.html5Email });

/**
 * An e-mail address in the one form that it is stored in: in lower case, its domain in ASCII (`bücher.de` →
 * `xn--bcher-kva.de`) and without a period at its end. What stands before the `@` stays: `you+news@…` is another address
 * than `you@…`, as only its mail server knows whether both are one person's. `undefined` when the text is no address.
 */
export function readMailAddress(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1)).replace(/\.$/, '');
  const email = `${address.slice(0, Math.max(at, 0))}@${domain}`;
  return email.length <= 254 && schema.safeParse(email).success ? email : undefined;
}
