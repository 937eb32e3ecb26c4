import { afterAllFiles } from '../support/in-turn.ts';
import { signInAt } from './deploy.ts';
import { type RunningDemo, startDemo } from './harness.ts';
import { setUpVendor } from './vendor-setup.ts';

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

/** The vendor's back end with a plugin service, shared in the same way. */
export async function shareVendor() {
  if (!vendor) {
    const started = (vendor = await setUpVendor());
    afterAllFiles(() => started.close());
  }
  await emptyCustomers(vendor.addresses.vendor);
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
