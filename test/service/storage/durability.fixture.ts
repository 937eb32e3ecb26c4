import type { AddressInfo } from 'node:net';
import { createHttpServer } from '../../../service/src/http/http-server.ts';
import { createService } from '../../../service/src/http/app.ts';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { openStore } from '../../../service/src/storage/store.ts';

// A service in a process of its own, for a test that kills it. Prints its port and an environment token.
const store = openStore(process.argv[2] ?? '');
const hosts: string[] = [];
const service = createService({ store, editorAssets: new Map(), hosts });
const server = createHttpServer(service);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  hosts.push(`127.0.0.1:${port}`);
  console.log(`${port} ${provisionEnvironmentToken(store, 'com.acme')}`);
});
