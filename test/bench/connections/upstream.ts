import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A server that plugins call, in a process of its own; see `upstream-process.ts`. */
export class UpstreamProcess implements AsyncDisposable {
  readonly port: number;
  #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(): Promise<UpstreamProcess> {
    const { child, port } = await start(0);
    return new UpstreamProcess(child, port);
  }

  get origin(): string {
    return `http://localhost:${this.port}`;
  }

  /** Ends it with no warning, and starts it again at the same address. */
  async restart(): Promise<void> {
    await this[Symbol.asyncDispose]();
    ({ child: this.#child } = await start(this.port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

async function start(port: number): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(new URL('upstream-process.ts', import.meta.url), [String(port)]);
  const [listening] = (await once(child, 'message')) as [number];
  return { child, port: listening };
}
