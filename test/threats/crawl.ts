import type { RunningDemo } from '../demo/harness.ts';

/** What no file names and a browser may ask for all the same. */
const PATHS = [
  '/',
  '/session',
  '/plugins?ident=com.example.customer-7',
  '/plugins?ident=com.example.customer-7&name=greet-customer',
  '/customers',
  '/plugins/editor-token?ident=com.example.customer-7&fn=add-record',
  '/api/v1/features',
  '/api/v1/template/typescript',
  '/api/v2/template/javascript/x?namespace=y',
  '/api/v1/draft/com.example.customer-7/default/greet-customer',
  '/api/v1/progress/com.example.customer-7/default/greet-customer',
  '/auth/v2/access/com.example.customer-7/default/greet-customer',
  '/exec/com.example.customer-7/default/greet-customer/v1.0.0',
  '/editor/',
  '/editor/index.html',
];

/**
 * Fetches every address that a browser can know of on both servers, each file that a file names included. Somebody else
 * is signed in than those whose tokens there were. Answers with the addresses.
 */
export async function fetchAll({ vendor, service }: RunningDemo): Promise<string[]> {
  const headers = { origin: vendor.slice(0, -1), 'sec-fetch-site': 'same-origin' };
  const signedIn = await fetch(`${vendor}session`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"user":"bram"}',
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const waiting = [vendor, service].flatMap((base) => PATHS.map((path) => new URL(path, base).href));
  const seen = new Set(waiting);
  for (let address; (address = waiting.shift());) {
    const response = await fetch(address, {
      headers: { ...headers, ...(address.startsWith(vendor) && { cookie }) },
    });
    const text = await response.text();
    for (const [name] of text.matchAll(/[\w-]+\.(?:js|css|svg|woff2|map)\b/g)) {
      for (const folder of ['assets/', 'editor/assets/']) {
        const found = new URL(folder + name, folder.startsWith('editor') ? service : vendor).href;
        if (seen.has(found) || !response.ok) continue;
        seen.add(found);
        waiting.push(found);
      }
    }
  }
  return [...seen];
}
