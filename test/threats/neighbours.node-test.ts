import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { hello } from '../bench/executions/plugins.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
} from '../bench/executions/service-process.ts';
import { Attacker } from '../bench/neighbours/attack.ts';
import { known } from '../bench/neighbours/attacks.ts';
import { databaseUrl, databaseWithSchema, engineUnderTest } from '../service/storage/databases.ts';
import { Connection } from '../support/connection.ts';
import { until } from '../support/until.ts';

/** What has to become of something in each attack: a status, or the end of its connections. */
const expected: Readonly<Record<string, string[]>> = {
  S1: ['422'],
  // Fields beyond the limit, which it tries before it begins.
  S2: ['422', 'sent'],
  S3: ['closed'],
  S4: ['422'],
  // All that one connection can leave unread.
  S5: ['page ended by its bytes'],
  // More than one token may have in progress.
  S6: ['429'],
  // More than a tenant may store.
  S7: ['403'],
  S8: ['closed'],
  S9: ['closed'],
};

/** The attacks that keep the database busy. The others are on what the service does by itself, whatever its database is. */
const onDatabase = ['S2', 'S4', 'S6', 'S7'];

/** How many runs of the other environment have to be answered during an attack, besides those before and after its end. */
const runs = 4;

const { contents, input, output } = hello('victim');
const plugin = { ident: `${environment}.t1`, name: 'victim', lang: 'javascript', contents };
const environmentOf = (name: string) => `com.attacker-${name.toLowerCase()}`;

/** The compilers of other languages than the attacks', which would come up with it, take as long as its whole start. */
const coldCompilers = [
  process.env['NODE_OPTIONS'],
  `--import=${new URL('../support/cold-compilers.ts', import.meta.url).href}`,
].join(' ');

// How long anything takes is measured by `npm run bench -- neighbours`.
describe('the service', () => {
  const cleanUp = new AsyncDisposableStack();
  let service: ServiceProcess;

  before(async () => {
    const data = cleanUp.use(createDataDirectory());
    const address = await databaseWithSchema(
      { after: (work) => cleanUp.defer(async () => void (await work())) },
      engineUnderTest(),
    );
    const storage = await openStorage(address);
    const tokens: Record<string, string> = {};
    for (const name of [environment, ...Object.keys(known).map(environmentOf)])
      tokens[name] = await provisionEnvironmentToken(storage, name);
    await storage.close();
    service = cleanUp.use(
      await ServiceProcess.start(data.path, {
        variables: {
          DATABASE_URL: databaseUrl(address),
          TENANT_STORAGE_MB: '20',
          // A busy machine may need more than the default of a second for any run.
          RUN_TIMEOUT_MS: '20000',
          NODE_OPTIONS: coldCompilers,
        },
        heap: 1024,
        tokens,
      }),
    );
    await service.deploy(plugin);
  });
  after(() => cleanUp.disposeAsync());

  async function runVictim(): Promise<void> {
    // A new connection for each: one that was idle may be closed just as it is used again.
    const connection = new Connection(`http://127.0.0.1:${service.port}`);
    const token = service.tokenFor(plugin.ident);
    const response = await connection.send('POST', executionPath(plugin), { token, body: input });
    connection.close();
    assert.deepEqual([response.status, response.body], [200, output]);
  }

  for (const [i, [name, { title, engine, prepare, run }]] of Object.entries(known).entries()) {
    if (engine && engine !== engineUnderTest()) continue;
    if (engineUnderTest() === 'postgres' && !onDatabase.includes(name)) continue;
    test(`fails no run of another environment beside ${title}`, async () => {
      const end = new AbortController();
      const attacked = environmentOf(name);
      const position = {
        port: service.port,
        address: `127.0.0.${10 + i}`,
        environment: attacked,
        environmentToken: service.tokenFor(`${attacked}.t1`),
      };
      const attacker = new Attacker(position, end.signal);
      await prepare?.(attacker);
      const ended = run(attacker);
      try {
        for (let count = 0; count < runs; count++) await runVictim();
        for (const what of expected[name] ?? [])
          await until(`the attack to get ${what}`, () => what in attacker.tally);
        await runVictim();
      } finally {
        end.abort();
        await ended;
      }
      await runVictim();
      for (const bad of ['500', 'long page'])
        assert.equal(attacker.tally[bad], undefined, JSON.stringify(attacker.tally));
    });
  }
});
