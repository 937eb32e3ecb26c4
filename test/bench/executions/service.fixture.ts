import { listen } from '../../../service/src/http/listen.ts';
import { createService } from '../../../service/src/http/app.ts';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { openStore } from '../../../service/src/storage/store.ts';

/*
 * The service as `npm start` runs it, in a process of its own and without the vendor's app. Its arguments are the data
 * directory and the environments; it prints one line of JSON: its port and a new token for each of the environments.
 */
const [directory = '', ...environments] = process.argv.slice(2);
const store = openStore(directory);
const hosts: string[] = [];
const service = createService({ store, editorAssets: new Map(), hosts });
const { port } = await listen(service, 0, 'SERVICE_PORT');
hosts.push(`127.0.0.1:${port}`);
const tokens = Object.fromEntries(environments.map((name) => [name, provisionEnvironmentToken(store, name)]));
service.warmUp();
console.log(JSON.stringify({ port, tokens }));
