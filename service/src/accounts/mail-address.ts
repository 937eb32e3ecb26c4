import { domainToASCII } from 'node:url';
import * as z from 'zod';

const schema = z.email({ pattern: z.regexes.html5Email });

/**
 * Normalizes an e-mail address for storage: in lower case, with the domain in ASCII (`bücher.de` → `xn--bcher-kva.de`) and without
 * a trailing period. The part before the `@` is kept: `you+news@…` counts as another address than `you@…`, because only the mail
 * server knows whether they are the same. `undefined` when the text is not an address.
 */
export function readMailAddress(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1)).replace(/\.$/, '');
  const email = `${address.slice(0, Math.max(at, 0))}@${domain}`;
  return email.length <= 254 && schema.safeParse(email).success ? email : undefined;
}
