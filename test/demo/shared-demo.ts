import { join } from 'node:path';
import { EnvironmentClient } from 'plugin-editor/server.js';
import { ENVIRONMENT } from '../../demo/vendor/accounts.ts';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { afterAllFiles } from '../support/in-turn.ts';
import { signInAt } from './deploy.ts';
import { type RunningDemo, startDemo } from './harness.ts';
import { type Call, setUpVendor } from './vendor-setup.ts';

/** How long its editor tokens are valid, in seconds: a little less than the default. */
export const TOKEN_TTL = 890;

let demo: RunningDemo | undefined;
let vendor: Awaited<ReturnType<typeof setUpVendor>> | undefined;

/**
 * A demo that the files of this process share, because starting one takes as long as many tests. Whoever calls this, at the top of a
 * file, finds its customers without plugins, as after a start.
 */
export async function shareDemo(): Promise<RunningDemo> {
  if (!demo) {
    demo = await startDemo({ EDITOR_TOKEN_TTL: String(TOKEN_TTL) });
    afterAllFiles(demo.stop);
  }
  await emptyCustomers(demo.vendor);
  return demo;
}

/** The demo that the files of this process share, for who asks its back end without a page. */
export async function shareBackEnd() {
  const running = await shareDemo();
  const sendRequest = (path: string, { method = 'GET', headers, body, cookie }: Call = {}) =>
    fetch(new URL(path, running.vendor), {
      method,
      headers: {
        ...(headers ?? { 'sec-fetch-site': 'same-origin', origin: new URL(running.vendor).origin }),
        ...(cookie && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    ...running,
    sendRequest,
    /** Signs in and gives the cookie, as a browser would send it. */
    async signIn(user: string): Promise<string> {
      const { headers } = await sendRequest('/session', { method: 'POST', body: { user } });
      return headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    },
    /** A client of the plugin service with a token that leaves the back end's valid. */
    async environmentClient(): Promise<EnvironmentClient> {
      const storage = await openStorage({ engine: 'sqlite', file: join(running.dataDir, 'service.sqlite') });
      const environmentToken = await provisionEnvironmentToken(storage, ENVIRONMENT, Date.now(), {
        holder: 'tests',
      });
      await storage.close();
      return new EnvironmentClient({ builderUrl: running.service, environmentToken, timeout: 60_000 });
    },
  };
}

/** The vendor's back end with a plugin service, shared in the same way. */
export async function shareVendor() {
  if (!vendor) {
    const started = (vendor = await setUpVendor());
    afterAllFiles(() => started.close());
  }
  await emptyCustomers(vendor.address);
  return vendor;
}

/** Deletes the customers with all that they have, and takes them on again, as the vendor's staff does. */
async function emptyCustomers(vendorAddress: string): Promise<void> {
  const send = await signInAt(vendorAddress, 'mia');
  for (const customer of ['customer-7', 'customer-8']) {
    for (const method of ['DELETE', 'POST']) {
      const response = await send(method, 'customers', { ident: `com.example.${customer}` });
      if (!response.ok) throw new Error(`${method} /customers is answered ${response.status}`);
    }
  }
}
