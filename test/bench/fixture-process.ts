import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Connection } from '../support/connection.ts';
import { createDataDirectory } from './executions/service-process.ts';

const fixture = join(import.meta.dirname, '../service/service.fixture.ts');

/** The service from its sources in a separate process on a new SQLite file, and connections to it. */
export async function startFixture(maxSockets: number) {
  const data = createDataDirectory();
  const args = [
    '--disable-warning=ExperimentalWarning',
    fixture,
    `sqlite:${join(data.path, 'service.sqlite')}`,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const [port = '', environmentToken = ''] = line.trim().split(' ');
  const connections = new Connection(`http://127.0.0.1:${port}`, { maxSockets });
  return {
    pid: child.pid ?? 0,
    environmentToken,
    connections,
    async [Symbol.asyncDispose]() {
      connections.close();
      child.kill('SIGKILL');
      await exited;
      data[Symbol.dispose]();
    },
  };
}
