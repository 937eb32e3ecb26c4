/**
 * The documentation leaves the session to its reader. This one is the customer's name with a signature, in a cookie: it needs
 * nothing but Web Crypto, so that it runs in Node and in workerd, and keeps no state. Copied beside the snippets.
 */
const secret = new TextEncoder().encode('the secret of this test');

const keyFor = (use: KeyUsage) =>
  crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);

/** A cookie for somebody who has signed in. */
export async function cookieFor(customer: string): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', await keyFor('sign'), new TextEncoder().encode(customer));
  return `customer=${customer}.${btoa(String.fromCharCode(...new Uint8Array(mac)))}`;
}

/** Who is signed in; `undefined` for nobody. */
export async function customerOf(request: Request): Promise<string | undefined> {
  const [, customer = '', mac = ''] =
    /(?:^|; )customer=([^;.]+)\.([^;]+)/.exec(request.headers.get('cookie') ?? '') ?? [];
  if (!mac) return undefined;
  const bytes = Uint8Array.from(atob(mac), (character) => character.charCodeAt(0));
  const good = await crypto.subtle.verify(
    'HMAC',
    await keyFor('verify'),
    bytes,
    new TextEncoder().encode(customer),
  );
  return good ? customer : undefined;
}
