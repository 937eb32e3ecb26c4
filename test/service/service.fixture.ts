import type { AddressInfo } from 'node:net';
import { createHttpServer } from '../../service/src/http/http-server.ts';
import { createService } from '../../service/src/http/create-service.ts';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { parseDatabaseUrl } from '../../service/src/storage/database-url.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { patientLimits } from './tool-processes.ts';

// A service in a separate process, for a test that kills it or runs several on one database: `<url> <token>`. It prints
// its port and an environment token, which is a new one unless it was given.
const [url = '', options = ''] = process.argv.slice(2);
const storage = await openStorage(parseDatabaseUrl(url));
const hosts: string[] = [];
const service = createService({
  storage,
  editorAssets: new Map(),
  hosts,
  checksResponses: true,
  runLimits: patientLimits,
});
const token = options || (await provisionEnvironmentToken(storage, 'com.acme'));
const { server } = createHttpServer(service);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  hosts.push(`127.0.0.1:${port}`);
  console.log(`${port} ${token}`);
});
