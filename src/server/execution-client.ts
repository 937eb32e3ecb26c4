import { checkSegment, httpUrl, segmentsUrl } from '../core/address.ts';
import type { CallOptions } from '../core/client/builder-client.ts';
import { DEFAULT_NAMESPACE } from '../core/editor-url.ts';
import { rejectingFetch } from '../core/client/error-body.ts';
import { checkText } from '../core/client/operation.ts';
import { type TextResponse, type SendOptions, request } from '../core/request.ts';
import { type EnvironmentToken, checkEnvironmentToken, withEnvironmentToken } from './environment-token.ts';
import { toRunError } from './run-error.ts';

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

/** A deployed plugin (interface: Execution interface). */
export interface ExecutionLocation {
  /** The plugin's owner: environment, a period, tenant. */
  identifier: string;
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
  /** Such as `1.0.0` or `v1.0.0`, which are the same. Left out: the version that is live. */
  version?: string | undefined;
}

/** A run and what is known of it. */
export interface RunDetails {
  /** What the plugin answered. */
  output: string;
  /** The id of the run, by which the service's records and logs can be asked. */
  requestId?: string;
  /** The version that ran, such as `v1.0.0`. */
  version?: string;
  /** How long the run alone took, in ms. */
  took?: number;
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
   * that no path can hold or an input that is not well-formed text, before any request; with `RunError` where the answer
   * says why there is no output, else with `HttpError` (a redirect, too, is not followed); with `TimeoutError`,
   * `NetworkError` or `SchemaError` (output over 8 MiB); and with the signal's reason when aborted. None of them holds the
   * environment token. After a time-out, an abort or a lost connection the plugin may have run all the same.
   */
  async run(location: ExecutionLocation, input: string, options?: CallOptions): Promise<string> {
    return (await this.#run(location, input, options)).text;
  }

  /** Runs a plugin as {@link run} does, and says what the service tells of the run beside its output. */
  async runWithDetails(
    location: ExecutionLocation,
    input: string,
    options?: CallOptions,
  ): Promise<RunDetails> {
    const { text: output, headers } = await this.#run(location, input, options);
    const requestId = headers.get('x-request-id') ?? headers.get('x-suborbital-requestid');
    const version = headers.get('x-plugin-version');
    const took = runTime(headers.get('server-timing'));
    return {
      output,
      ...(requestId && { requestId }),
      ...(version && { version }),
      ...(took !== undefined && { took }),
    };
  }

  async #run(
    { identifier, namespace = DEFAULT_NAMESPACE, pluginName, version }: ExecutionLocation,
    input: string,
    { signal }: CallOptions = {},
  ): Promise<TextResponse> {
    const plugin = [
      checkSegment('identifier', identifier),
      checkSegment('namespace', namespace),
      checkSegment('pluginName', pluginName),
    ];
    const url = segmentsUrl(
      this.#base,
      version === undefined
        ? ['name', ...plugin]
        : [...plugin, 'v' + checkSegment('version', checkSegment('version', version).replace(/^v/, ''))],
    );
    // A lone surrogate would reach the plugin as another character, and an object as `[object Object]`.
    checkText('input', input);
    const { environmentToken, fetch, timeout, retry = 0 } = this.#options;
    return withEnvironmentToken(environmentToken, (headers, secret) => {
      const init = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
        body: input,
      };
      const rejecting = rejectingFetch(
        (response, where, limit) => toRunError(response, where, limit, secret),
        fetch,
      );
      return request({ url, init, signal, fetch: rejecting, timeout, retry });
    });
  }
}

/** The time of the run alone, in ms, as the answer's `Server-Timing` says it. */
function runTime(header: string | null): number | undefined {
  const took = Number(/(?:^|,)\s*run;dur=([\d.]+)/.exec(header ?? '')?.[1]);
  return Number.isNaN(took) ? undefined : took;
}
