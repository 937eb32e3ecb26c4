import { join } from 'node:path';
import { listen } from '../../../service/src/http/listen.ts';
import { createService } from '../../../service/src/http/app.ts';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';

/*
 * The service as `npm start` runs it, in a process of its own and without the vendor's app. Its arguments are the data
 * directory and the environments; it prints one line of JSON: its port and a new token for each of the environments.
 */
const [directory = '', ...environments] = process.argv.slice(2);
const storage = await openStorage({ engine: 'sqlite', file: join(directory, 'service.sqlite') });
const hosts: string[] = [];
const service = createService({ storage, editorAssets: new Map(), hosts });
const { port } = await listen(service, 0, 'SERVICE_PORT');
hosts.push(`127.0.0.1:${port}`);
const tokens: Record<string, string> = {};
for (const name of environments) tokens[name] = await provisionEnvironmentToken(storage, name);
service.warmUp();
console.log(JSON.stringify({ port, tokens }));
