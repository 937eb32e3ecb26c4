import { databaseUrl } from '../../service/storage/databases.ts';
import type { EngineName } from '../../service/storage/databases.ts';
import { createDurableDatabase } from '../../service/storage/durable-database.ts';
import type { LoadProcess } from './load.ts';
import { hello } from './plugins.ts';
import { createDataDirectory, environment, executionPath, ServiceProcess } from './service-process.ts';
import { measureThroughput } from './throughput.ts';

/** A service on a new database, with "Hello" deployed, that as many connections ask for it. */
export async function startMeasuredService(
  engine: EngineName,
  connections: number,
  variables: Record<string, string> = {},
) {
  const cleanUp = new AsyncDisposableStack();
  const directory = cleanUp.use(createDataDirectory());
  const database = await createDurableDatabase(engine);
  cleanUp.defer(database.remove);
  const settings = { DATABASE_URL: databaseUrl(database.address), ...variables };
  const service = cleanUp.use(await ServiceProcess.start(directory.path, { variables: settings }));
  const { contents, input, output } = hello('hello');
  const plugin = { ident: `${environment}.t1`, name: 'measured', lang: 'javascript', contents };
  await service.deploy(plugin);
  const token = service.tokenFor(plugin.ident);
  const requests = [{ path: executionPath(plugin), body: input, expected: output }];
  return {
    pid: service.pid,
    measure: (load: LoadProcess, seconds: number) =>
      measureThroughput(load, service, { token, connections, requests, seconds }),
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}
