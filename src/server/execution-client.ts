import { checkSegment, httpUrl, segmentsUrl } from '../core/address.ts';
import type { CallOptions } from '../core/client/builder-client.ts';
import { DEFAULT_NAMESPACE } from '../core/editor-url.ts';
import { type SendOptions, request } from '../core/request.ts';
import { type EnvironmentToken, checkEnvironmentToken, withEnvironmentToken } from './environment-token.ts';

export interface ExecutionClientOptions extends SendOptions {
  /** Base address of the execution interface, http or https; a path in it is kept. */
  executionUrl: string;
  /** Environment token, or a function that gives one for each call (rotation). */
  environmentToken: EnvironmentToken;
  /**
   * How often to try again after a lost connection or a passing status (408, 429, 500, 502, 503, 504). Default 0: none
   * of these says for certain that the plugin has not run, and a second run could book or mail twice. Set it only where
   * every plugin may safely run more than once.
   */
  retry?: number | undefined;
}

/** A deployed version of a plugin (interface: Execution interface). */
export interface ExecutionLocation {
  /** The plugin's owner: environment, a period, tenant. */
  identifier: string;
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
  /** Such as `1.0.0` or `v1.0.0`, which are the same. */
  version: string;
}

/** The execution interface, which runs deployed plugins. For servers only: it is called with the environment token. */
export class ExecutionClient {
  #base: URL;
  #options: ExecutionClientOptions;

  /** @throws TypeError when `executionUrl` is not an http or https address, or `environmentToken` cannot be sent. */
  constructor(options: ExecutionClientOptions) {
    this.#base = httpUrl('executionUrl', options.executionUrl);
    checkEnvironmentToken(options.environmentToken);
    this.#options = options;
  }

  /**
   * Runs a plugin: its input as text goes in, its output as text comes out. Rejects with a `TypeError` for a segment
   * that no path can hold or an input that is not well-formed text, before any request; with `HttpError` (a redirect,
   * too, is not followed), `TimeoutError`, `NetworkError` or `SchemaError` (output over 8 MiB) for what comes back; and
   * with the signal's reason when aborted. None of them holds the environment token. After a time-out, an abort or a
   * lost connection the plugin may have run all the same.
   */
  async run(
    { identifier, namespace = DEFAULT_NAMESPACE, pluginName, version }: ExecutionLocation,
    input: string,
    { signal }: CallOptions = {},
  ): Promise<string> {
    const url = segmentsUrl(this.#base, [
      checkSegment('identifier', identifier),
      checkSegment('namespace', namespace),
      checkSegment('pluginName', pluginName),
      'v' + checkSegment('version', checkSegment('version', version).replace(/^v/, '')),
    ]);
    // A lone surrogate would reach the plugin as another character, and an object as `[object Object]`.
    if (typeof input !== 'string' || !input.isWellFormed())
      throw new TypeError('input must be well-formed text');
    const { environmentToken, fetch, timeout, retry = 0 } = this.#options;
    return withEnvironmentToken(environmentToken, async (headers) => {
      const init = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
        body: input,
      };
      const { text } = await request({ url, init, signal, fetch, timeout, retry });
      return text;
    });
  }
}
