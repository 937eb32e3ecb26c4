import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EnvironmentClient } from 'plugin-editor/server.js';
import { StartError, startService } from 'plugin-editor-service';
import { readPageFiles } from './page-files.ts';
import { startRateService } from './rates.ts';
import { readDemoSettings } from './settings.ts';
import { ENVIRONMENT } from './vendor/accounts.ts';
import { createVendorApp } from './vendor/app.ts';
import { listen } from './vendor/listen.ts';
import { setUpConnections } from './vendor/places/connected.ts';
import { setUpPlaces } from './vendor/places/places.ts';
import { openVendorStore } from './vendor/store.ts';
import { setUpWebhook, Webhooks } from './vendor/webhooks.ts';

// What `npm start` runs: the vendor's app and, beside it, the plugin service, until Ctrl-C.

const parent = process.ppid;

interface Demo {
  vendorPort: number;
  servicePort: number;
  /** Where state is kept, for people. */
  database: string;
  close: () => Promise<void>;
}

async function start(env: NodeJS.ProcessEnv): Promise<Demo> {
  const { port, service: given } = readDemoSettings(env);
  const outboundAllow = [...given.outboundAllow];
  const settings = { ...given, outboundAllow };
  const { dataDirectory, editorAncestors } = settings;
  const opened: (() => unknown)[] = [];
  const close = async () => {
    for (const closeOne of opened.splice(0).toReversed()) await closeOne();
  };
  try {
    const assets = readPageFiles();
    const service = await startService(settings, { writeLog });
    opened.push(() => service.close());
    const lock = lockFolder(dataDirectory);
    opened.push(() => lock.close());
    const store = openVendorStore(dataDirectory);
    opened.push(() => store.close());

    let environmentToken = '';
    const hosts: string[] = [];
    const webhooks = new Webhooks();
    const app = createVendorApp({
      store,
      webhooks,
      assets,
      hosts,
      servicePort: service.port,
      environmentToken: () => environmentToken,
    });
    const server = await listen(app, port);
    opened.push(() => server.close());
    // [::1] is not among them, because a content security policy cannot name it.
    hosts.push(`localhost:${server.port}`, `127.0.0.1:${server.port}`);
    // Where ancestors are named, the vendor's own page is one of them.
    editorAncestors?.push(...hosts.map((host) => `http://${host}`));

    // Only once both ports are bound: a new token ends the former one, which another demo may still use.
    environmentToken = await service.createEnvironmentToken(ENVIRONMENT);
    const builderUrl = `http://127.0.0.1:${service.port}`;
    const client = new EnvironmentClient({ builderUrl, environmentToken, timeout: 60_000 });
    await setUpPlaces(client, ENVIRONMENT);
    const rates = await startRateService(server.port + 1);
    opened.push(() => rates.close());
    const larder = `http://127.0.0.1:${server.port}`;
    // Plugins reach no address of this machine but these two.
    outboundAllow.push(larder, rates.origin);
    for (const notice of await setUpConnections(client, ENVIRONMENT, { larder, rates }))
      console.error(notice);
    const untold = await setUpWebhook(client, ENVIRONMENT, `${larder}/webhooks`, webhooks);
    if (untold !== undefined) console.error(`The demo gets no webhooks: ${untold}`);
    const database =
      settings.database.engine === 'postgres'
        ? `${settings.database.shown} and ${dataDirectory}`
        : dataDirectory;
    return { vendorPort: server.port, servicePort: service.port, database, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Keeps a second demo from the folder, which would replace the token, the webhook and the addresses of the first. This is SQLite's
 * lock on an empty file, because the system releases that when the process is killed.
 */
function lockFolder(directory: string): DatabaseSync {
  // One that was told to end a moment ago may still be draining.
  const lock = new DatabaseSync(join(directory, 'demo.lock'), { timeout: 2000 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (!/database is locked/.test(String(error))) throw error;
    const hint = 'End that one, or choose another folder with DATA_DIR, such as: DATA_DIR=.data-2 npm start';
    throw new StartError(`The data folder ${directory} is in use by another \`npm start\`. ${hint}`);
  }
}

/** Prints a line of the service's log for people: its message, and with an error the stack. */
function writeLog(line: string): void {
  const { msg, err } = JSON.parse(line) as { msg?: string; err?: { stack?: string } };
  console.error([msg, err?.stack].filter(Boolean).join('\n'));
}

const greeting = ({ vendorPort, servicePort, database }: Demo) => `
  Larder, the vendor's app    http://localhost:${vendorPort}/
  Local plugin service        http://localhost:${servicePort}/

  For development: both listen on this machine's loopback addresses alone.
  State is kept in ${database}
  To start afresh, stop with Ctrl-C and delete that folder.
`;

try {
  const demo = await start(process.env);
  const end = () => {
    clearInterval(orphanWatch);
    // A second signal ends the process at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, end);
    void demo.close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);

  // Where tools/run.js was killed, nothing else would end this process.
  const orphanWatch = setInterval(() => {
    if (process.env['npm_lifecycle_event'] !== undefined && process.ppid !== parent) end();
  }, 250);

  // This comes last, because a test that reads it may stop the demo at once.
  console.log(greeting(demo));
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exitCode = 1;
}
