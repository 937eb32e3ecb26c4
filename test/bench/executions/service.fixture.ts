import { join } from 'node:path';
import { listen } from '../../../service/src/http/listen.ts';
import { createService } from '../../../service/src/http/app.ts';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';

/*
 * The service as `npm start` runs it, in a process of its own and without the vendor's app. Its arguments are the data
 * directory and the environments; it prints one line of JSON: its port and a new token for each of the environments.
 */
const [directory = '', ...environments] = process.argv.slice(2);
const url = process.env['BENCH_DATABASE_URL'];
const storage = await openStorage(
  url ? parseDatabaseUrl(url) : { engine: 'sqlite', file: join(directory, 'service.sqlite') },
);
const hosts: string[] = [];
// Far above what is measured, so that nothing is refused but all is counted.
const runs = Number(process.env['BENCH_RUNS_PER_MINUTE'] ?? 0);
const rates = { tenantRuns: runs, environmentRuns: runs };
const recording = { isOn: process.env['BENCH_RECORDING'] !== 'off' };
const service = createService({ storage, editorAssets: new Map(), hosts, rates, recording });
const { port } = await listen(service, 0, 'SERVICE_PORT');
hosts.push(`127.0.0.1:${port}`);
const tokens: Record<string, string> = {};
for (const name of environments) tokens[name] = await provisionEnvironmentToken(storage, name);
service.warmUp();
console.log(JSON.stringify({ port, tokens }));
