import { buildEditorPage, buildVendorPage } from './build.ts';
import { listen } from './listen.ts';
import type { Listening } from './listen.ts';
import { createService } from './service/app.ts';
import { provisionEnvironmentToken } from './service/environment-token.ts';
import { dataDirectory, openStore } from './service/store.ts';
import { readSettings, StartError } from './settings.ts';
import { ENVIRONMENT } from './vendor/accounts.ts';
import { createVendorApp } from './vendor/app.ts';
import { openVendorStore } from './vendor/store.ts';

// What `npm start` runs: the vendor's app and the local plugin service, until Ctrl-C.

const parent = process.ppid;

interface Demo {
  vendorPort: number;
  servicePort: number;
  dataDir: string;
  close: () => Promise<void>;
}

async function start(env: NodeJS.ProcessEnv): Promise<Demo> {
  const settings = readSettings(env);
  const dataDir = dataDirectory(env);
  const opened: (() => unknown)[] = [];
  const close = async () => {
    for (const closeOne of opened.splice(0).toReversed()) await closeOne();
  };
  try {
    const store = plainly(() => openStore(dataDir));
    opened.push(() => store.close());
    const vendorStore = plainly(() => openVendorStore(store.file));
    opened.push(() => vendorStore.close());

    const [editorAssets, pageAssets] = await Promise.all([buildEditorPage(), buildVendorPage()]);

    const serviceHosts: string[] = [];
    const service = plainly(() =>
      createService({
        store,
        editorAssets,
        hosts: serviceHosts,
        editorTokenTtl: settings.editorTokenTtl,
        editorAncestors: settings.editorAncestors,
        editorAddressTokens: settings.editorAddressTokens,
      }),
    );
    opened.push(() => service.close());
    const serviceServer: Listening = await listen(service, settings.servicePort, 'SERVICE_PORT');
    opened.push(() => serviceServer.close());
    serviceHosts.push(...['localhost', '127.0.0.1', '[::1]'].map((host) => `${host}:${serviceServer.port}`));

    let environmentToken = '';
    const vendorHosts: string[] = [];
    const vendor = createVendorApp({
      store: vendorStore,
      assets: pageAssets,
      hosts: vendorHosts,
      servicePort: serviceServer.port,
      environmentToken: () => environmentToken,
    });
    const vendorServer: Listening = await listen(vendor, settings.port, 'PORT');
    opened.push(() => vendorServer.close());
    // Not [::1]: a policy cannot name it, so the editor could not be framed there.
    vendorHosts.push(`localhost:${vendorServer.port}`, `127.0.0.1:${vendorServer.port}`);
    // Where ancestors are named, the vendor's own page is one of them.
    settings.editorAncestors?.push(...vendorHosts.map((host) => `http://${host}`));

    // Only now that both ports are ours: it ends the token of the start before, which may still run.
    environmentToken = provisionEnvironmentToken(store, ENVIRONMENT);
    // So that the first build does not wait for its compiler.
    service.warmUp();
    return { vendorPort: vendorServer.port, servicePort: serviceServer.port, dataDir, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** For steps whose errors are all about what the environment asked for. */
function plainly<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error });
  }
}

const greeting = ({ vendorPort, servicePort, dataDir }: Demo) => `
  Larder, the vendor's app    http://localhost:${vendorPort}/
  Local plugin service        http://localhost:${servicePort}/

  For development: both listen on this machine's loopback addresses alone.
  State is kept in ${dataDir}
  To start afresh, stop with Ctrl-C and delete that folder.
`;

try {
  const demo = await start(process.env);
  const end = () => {
    clearInterval(orphaned);
    // A second signal ends the process at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end);
    void demo.close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);

  // npm runs this in a shell, and a signal sent to npm ends the shell without reaching us: see that it is gone.
  const orphaned = setInterval(() => {
    if (process.env['npm_lifecycle_event'] !== undefined && process.ppid !== parent) end();
  }, 250);

  // Last: whoever reads it may end us at once.
  console.log(greeting(demo));
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exitCode = 1;
}
