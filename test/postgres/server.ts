import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface TestServer {
  /** Of a database from which others can be made. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL server that ends with this process at the latest. Its data is worth nothing after a crash. */
export async function startPostgres(): Promise<TestServer> {
  const file = fileURLToPath(new URL('server-process.ts', import.meta.url));
  // In a group of its own, so that Ctrl-C does not end it before the tests that use it.
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
    child.once('error', reject);
    child.once('close', () =>
      reject(new Error('There is no PostgreSQL for the tests; the reason is above.')),
    );
  });
  // It does not keep this process running.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as Partial<{ unref(): void }>).unref?.();
  return {
    url,
    async stop() {
      child.ref();
      child.stdin.end();
      await closed;
    },
  };
}
