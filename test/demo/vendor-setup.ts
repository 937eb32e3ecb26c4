import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { listen as listenService } from '../../service/src/http/listen.ts';
import { createService } from '../../service/src/http/create-service.ts';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { createVendorApp } from '../../demo/vendor/app.ts';
import { ENVIRONMENT } from '../../demo/vendor/accounts.ts';
import { namespaceOf } from '../../demo/vendor/places/places.ts';
import { listen } from '../../demo/vendor/listen.ts';
import { openVendorStore } from '../../demo/vendor/store.ts';
import { Webhooks } from '../../demo/vendor/webhooks.ts';
import { memoryFolder } from '../support/memory-folder.ts';

export const ORIGIN = 'http://localhost:5173';

/** What a page of the vendor's own sends. */
export const OWN = { 'sec-fetch-site': 'same-origin', origin: ORIGIN };

export interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  cookie?: string;
}

/**
 * The vendor's back end, asked directly, with the real plugin service behind it on a real port, which has none of the places that
 * customers fill: compiling their types takes longer than all that is asked here.
 */
export async function setUpVendor() {
  const directory = mkdtempSync(join(memoryFolder, 'plugin-editor-vendor-'));
  const storage = await openStorage({ engine: 'sqlite', file: join(directory, 'service.sqlite') });
  const vendorStore = openVendorStore(directory);
  const hosts: string[] = [];
  const service = createService({ storage, editorAssets: new Map(), hosts });
  const listening = await listenService(service, 0, 'SERVICE_PORT');
  hosts.push(`127.0.0.1:${listening.port}`);
  const environmentToken = await provisionEnvironmentToken(storage, ENVIRONMENT);
  const page = (type: string, text: string) => ({ type, body: new TextEncoder().encode(text) });
  const webhooks = new Webhooks();
  webhooks.secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const vendorHosts = ['localhost:5173', '127.0.0.1:5173'];
  const app = createVendorApp({
    store: vendorStore,
    webhooks,
    assets: new Map([
      ['index.html', page('text/html; charset=utf-8', '<!doctype html><title>Larder</title>')],
      ['assets/main-abcd1234.js', page('text/javascript', 'export {};')],
    ]),
    hosts: vendorHosts,
    servicePort: listening.port,
    environmentToken: () => environmentToken,
  });

  // On a port of its own, too, for what a real connection is needed for.
  const vendorListening = await listen(app, 0);
  vendorHosts.push(`127.0.0.1:${vendorListening.port}`);

  let isServiceClosed = false;
  const closeService = async () => {
    if (isServiceClosed) return;
    isServiceClosed = true;
    await listening.close();
    await service.close();
  };

  const sendRequest = async (path: string, { method = 'GET', headers = OWN, body, cookie }: Call = {}) => {
    const init: RequestInit = { method, headers: { ...headers, ...(cookie && { cookie }) } };
    if (body !== undefined) {
      init.body = typeof body === 'string' ? body : JSON.stringify(body);
      Object.assign(init.headers as object, { 'content-type': 'application/json' });
    }
    return app.fetch(new Request(new URL(path, ORIGIN), init));
  };

  return {
    sendRequest,
    environmentToken,
    servicePort: listening.port,
    port: vendorListening.port,
    address: `http://127.0.0.1:${vendorListening.port}/`,
    cookieSecret: vendorStore.cookieSecret,
    webhookSecret: webhooks.secret,
    /** Signs in and gives the cookie, as a browser would send it. */
    async signIn(user: string): Promise<string> {
      const response = await sendRequest('/session', { method: 'POST', body: { user } });
      const [cookie] = response.headers.getSetCookie();
      if (!cookie) throw new Error(`No cookie came with status ${response.status}.`);
      return cookie.split(';', 1)[0] as string;
    },
    /** A second back end on the same data, as after a restart. */
    reopen: () => openVendorStore(directory),
    /** Ends the plugin service, and leaves the vendor's back end without one. */
    closeService,
    async close() {
      await vendorListening.close();
      await closeService();
      vendorStore.close();
      await storage.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export const targetOf = (tenant: string, fn = 'add-record') => ({
  ident: `com.example.${tenant}`,
  namespace: namespaceOf(fn),
  fn,
});
