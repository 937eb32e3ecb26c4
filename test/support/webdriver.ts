import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

/** A WebDriver session, with the few commands that the launcher needs. */
export class WebDriverSession {
  #base: string;
  readonly capabilities: Record<string, unknown>;

  private constructor(base: string, capabilities: Record<string, unknown>) {
    this.#base = base;
    this.capabilities = capabilities;
  }

  /** Opens a session as soon as the driver at that address listens. */
  static async open(driver: string, capabilities: object): Promise<WebDriverSession> {
    const deadline = Date.now() + 180_000;
    for (;;) {
      const ready = await fetch(`${driver}/status`).then(
        (response) => response.ok,
        () => false,
      );
      if (ready) break;
      if (Date.now() > deadline) throw new Error(`No WebDriver answers at ${driver}`);
      await wait(50);
    }
    const body = { capabilities: { alwaysMatch: capabilities } };
    const opened = (await send('POST', `${driver}/session`, body)) as {
      sessionId: string;
      capabilities: Record<string, unknown>;
    };
    return new WebDriverSession(`${driver}/session/${opened.sessionId}`, opened.capabilities);
  }

  post(path: string, body: object = {}): Promise<unknown> {
    return send('POST', this.#base + path, body);
  }

  get(path: string): Promise<unknown> {
    return send('GET', this.#base + path);
  }

  /** The empty path ends the session. */
  delete(path: string): Promise<unknown> {
    return send('DELETE', this.#base + path);
  }
}

async function send(method: string, url: string, body?: object): Promise<unknown> {
  const response = await fetch(url, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
  const { value } = (await response.json()) as { value: unknown };
  if (response.ok) return value;
  const { error, message } = value as { error: string; message: string };
  throw new Error(`WebDriver: ${error}: ${message} (${method} ${new URL(url).pathname})`);
}

/** Starts a program that ends with this process at the latest. Its error output is kept for error messages. */
export function startProgram(
  path: string,
  args: string[],
  options: SpawnOptions,
): { child: ChildProcess; failed: Promise<never>; stop: () => Promise<void> } {
  const child = spawn(path, args, options);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000);
  });
  const kill = () => void child.kill('SIGTERM');
  process.once('exit', kill);

  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let stopping = false;
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Error(`Cannot start ${path}: ${error.message}`)));
    child.once('close', (code) => {
      process.off('exit', kill);
      if (!stopping) reject(new Error(`${path} ended by itself (${code}).\n${errors}`));
    });
  });
  // The caller races against this while it matters; later it is ignored.
  failed.catch(() => undefined);

  return {
    child,
    failed,
    stop: async () => {
      stopping = true;
      if (child.exitCode === null && child.signalCode === null) {
        kill();
        await ended;
      }
    },
  };
}
