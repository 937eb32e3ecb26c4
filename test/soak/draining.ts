import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from '../bench/figures.ts';
import { runCommand } from '../service/cli/service-command.ts';
import { cleanUpFirst, freshDatabase } from '../service/storage/databases.ts';
import type { Cleanup, EngineName } from '../service/storage/databases.ts';
import type { DatabaseAddress } from '../../service/src/storage/database-url.ts';
import { DrainedClients } from './draining/clients.ts';
import type { ClientReport, ClientRequest } from './draining/clients.ts';
import { Connection, deploy, signIn } from '../support/connection.ts';
import { until } from '../support/until.ts';

export interface DrainingOptions {
  /** How many times a service is started, put under load and told to end; each database has every other round. */
  rounds: number;
  /** Default: both. */
  databases?: readonly EngineName[];
}

/** How many clients there are at once, each with a separate connection. */
const clientCount = 8;

/** How many requests are answered before the service is told to end. */
const requestsBefore = 100;

const plugin = 'com.acme.t1/default/add-record';
const code = 'export const run = (input) => input;';

/**
 * A service in a separate process that gets SIGTERM while clients save, build and run. No request may fail but those whose
 * connection was refused once draining was over, and the process has to end with exit code 0 and without a word.
 */
export async function measureDraining(
  { rounds, databases = ['sqlite', 'postgres'] }: DrainingOptions = { rounds: 50 },
): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const cleanup: Cleanup = { after: (work) => stack.defer(async () => void (await work())) };
  const total: ClientReport = { answered: 0, closing: 0, failures: [] };
  const endings: string[] = [];
  let [wellEnded, announced] = [0, 0];
  const nodes = await Promise.all(databases.map((engine) => DrainedNode.create(cleanup, engine)));
  for (let round = 0; round < rounds; round++) {
    const node = nodes[round % nodes.length];
    if (!node) continue;
    const { report, ending } = await node.drain();
    total.answered += report.answered;
    total.closing += report.closing;
    total.failures.push(...report.failures.map((failure) => `round ${round}, ${node.engine}: ${failure}`));
    if (report.closing > 0) announced += 1;
    if (ending === undefined) wellEnded += 1;
    else endings.push(`round ${round}, ${node.engine}: ${ending}`);
  }
  for (const problem of [...total.failures, ...endings]) console.log(`  ${problem}`);
  return [
    {
      name: `requests that failed in ${rounds} rounds of SIGTERM under load`,
      value: total.failures.length,
      limit: 0,
      unit: '',
      note: [
        `${total.answered} answered, ${total.closing} of them with "connection: close" after the signal`,
        ...total.failures.slice(0, 3),
      ].join('; '),
    },
    { name: 'rounds that ended with another code than 0', value: rounds - wellEnded, limit: 0, unit: '' },
    { name: 'rounds without "connection: close"', value: rounds - announced, limit: 0, unit: '' },
  ];
}

/** A database with one deployed plugin, on which a service is started round after round. */
class DrainedNode {
  readonly engine: EngineName;
  readonly #cleanup: Cleanup;
  readonly #address: DatabaseAddress;
  readonly #env: Readonly<Record<string, string>>;
  readonly #environmentToken: string;
  #isDeployed = false;

  private constructor(
    cleanup: Cleanup,
    engine: EngineName,
    address: DatabaseAddress,
    env: Readonly<Record<string, string>>,
    environmentToken: string,
  ) {
    this.#cleanup = cleanup;
    this.engine = engine;
    this.#address = address;
    this.#env = env;
    this.#environmentToken = environmentToken;
  }

  static async create(cleanup: Cleanup, engine: EngineName): Promise<DrainedNode> {
    const address = await freshDatabase(cleanup, engine);
    const dataDir = mkdtempSync(join(tmpdir(), 'plugin-service-draining-'));
    cleanUpFirst(cleanup, () => rmSync(dataDir, { recursive: true, force: true }));
    const env = {
      DATA_DIR: dataDir,
      DRAIN_SECONDS: '1',
      // The clients never pause, and all have one token.
      TOKEN_REQUESTS_PER_MINUTE: '0',
      // That a busy machine needs more than the default second for a run is no failure of draining.
      RUN_TIMEOUT_MS: '60000',
    };
    const { out } = await runCommand(cleanup, address, ['env-token', 'com.acme'], env).done();
    return new DrainedNode(cleanup, engine, address, env, out.trim());
  }

  /** One round. `ending`: how the process ended, where that was not as it should be. */
  async drain(): Promise<{ report: ClientReport; ending: string | undefined }> {
    const command = runCommand(this.#cleanup, this.#address, ['serve'], this.#env);
    const { base } = await command.serving();
    await until('it is ready', async () => (await fetch(`${base}/readyz`)).status === 200);
    const connection = new Connection(base);
    const token = await signIn(connection, plugin, this.#environmentToken);
    if (!this.#isDeployed) await deploy(connection, plugin, token, code);
    this.#isDeployed = true;
    connection.close();

    const clients = new DrainedClients(base, this.#requests(token));
    const ended = clients.run(clientCount);
    await until('there is load', () => clients.report.answered > requestsBefore);
    clients.expectRefusals();
    command.kill('SIGTERM');
    await ended;
    const { status, err } = await command.done();
    const ending = status === 0 && !err ? undefined : `exit code ${status}: ${err}`;
    return { report: clients.report, ending };
  }

  /** Mostly runs, as in production; the first client is an author. */
  #requests(token: string) {
    return (client: number, n: number): ClientRequest => {
      if (client > 0)
        return {
          method: 'POST',
          path: `/exec/name/${plugin}`,
          token: this.#environmentToken,
          body: `${n}`,
        };
      if (n % 20 === 10)
        return { method: 'POST', path: `/api/v1/build/javascript/${plugin}`, token, body: code };
      const path = `/api/v1/draft/${plugin}`;
      if (n % 2) return { method: 'GET', path, token };
      const body = JSON.stringify({ lang: 'javascript', contents: code, tests: [] });
      return { method: 'POST', path, token, type: 'application/json', body };
    };
  }
}
