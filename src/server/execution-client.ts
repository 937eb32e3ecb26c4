import { checkText, checkSegment, DEFAULT_NAMESPACE, httpUrl } from '../core/url.ts';
import type { CallOptions } from '../core/client/plugin-client.ts';
import { encodedPath } from '../core/client/operation.ts';
import type { Received, SendOptions } from '../core/request.ts';
import {
  type EnvironmentToken,
  checkEnvironmentToken,
  sendWithEnvironmentToken,
} from './environment-token.ts';
import { toRunError } from './run-error.ts';

export interface ExecutionClientOptions extends SendOptions {
  /** Base address of the execution interface, http or https; a path in it is kept. */
  executionUrl: string;
  /** Environment token, or a function that returns one for each call (rotation). */
  environmentToken: EnvironmentToken;
  /**
   * For one try, from sending to the last byte of the response, in ms; default 35000, because a run may wait for its turn and
   * then for what it calls.
   */
  timeout?: number | undefined;
  /**
   * How often to try again after a lost connection or a transient status (408, 429, 500, 502, 503, 504). Default 0, because
   * the plugin may have run in spite of the failure, and a second run could book or mail twice. Set it only where every
   * plugin may safely run more than once.
   */
  retry?: number | undefined;
}

/** A deployed plugin. */
export interface ExecutionLocation {
  /** The plugin's owner: environment, a period, tenant. */
  identifier: string;
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
  /** Such as `1.0.0` or `v1.0.0`, which are the same. By default the live version. */
  version?: string | undefined;
}

export interface RunOptions extends CallOptions {
  /**
   * Decides which version runs during a rollout: the same key, such as the id of a customer, always gets the same version. By
   * default chance decides for each run.
   */
  rolloutKey?: string | undefined;
}

/** A run that gave an output, and what the service says about it. */
export interface RunDetails {
  /** What the plugin returned. */
  output: string;
  /** The id of the run, for `getRun` and for the service's log. */
  requestId?: string;
  /** The version that ran, such as `v1.0.0`. */
  version?: string;
  /** How long the run alone took, in ms. */
  took?: number;
}

/** How long one try may take by default, in ms. It is more than the service's own limit, so that its response says why. */
const RUN_TIMEOUT = 35_000;

/**
 * A client of the execution interface, which runs deployed plugins. For servers only, because it needs the environment token.
 */
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
   * Runs a plugin with an input, and resolves with its output. Before any request, rejects with a `TypeError` for a segment
   * that no path can hold, and for an input that is not well-formed text; and with an `Error` whose `cause` is what the function
   * `environmentToken` threw. After that, rejects with `RunError` if the response says why there is no output, else with
   * `HttpError` (also for a redirect, which is not followed); with `TimeoutError`, `NetworkError` or `SchemaError` (an output over
   * 8 MiB); and with the signal's reason when aborted. None of these errors holds the environment token. After a time-out, an abort
   * or a lost connection the plugin may have run.
   */
  async run(location: ExecutionLocation, input: string, options?: RunOptions): Promise<string> {
    return (await this.#run(location, input, options)).data;
  }

  /** Runs a plugin as {@link run} does, and resolves with the output and what the service says about the run. */
  async runWithDetails(
    location: ExecutionLocation,
    input: string,
    options?: RunOptions,
  ): Promise<RunDetails> {
    const { data: output, headers } = await this.#run(location, input, options);
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
    { signal, rolloutKey }: RunOptions = {},
  ): Promise<Received<string>> {
    const plugin = { identifier, namespace, pluginName };
    const path =
      version === undefined
        ? encodedPath('/name', plugin)
        : encodedPath('', { ...plugin, version: tagOf(version) });
    const { environmentToken, fetch, timeout = RUN_TIMEOUT, retry = 0 } = this.#options;
    return sendWithEnvironmentToken(
      {
        method: 'POST',
        path,
        text: checkText('input', input),
        // Encoded, because a header holds no other text.
        ...(rolloutKey !== undefined && {
          headers: { 'x-rollout-key': encodeURIComponent(checkText('rolloutKey', rolloutKey)) },
        }),
      },
      { base: this.#base, environmentToken, fetch, timeout, retry, signal, toError: toRunError },
    );
  }
}

/** The version as the path has it: `1.0.0` and `v1.0.0` are both `v1.0.0`. */
function tagOf(version: string): string {
  return 'v' + checkSegment('version', checkSegment('version', version).replace(/^v/, ''));
}

/** The time of the run alone, in ms, as the `Server-Timing` header says it. */
function runTime(header: string | null): number | undefined {
  const took = Number(/(?:^|,)\s*run;dur=([\d.]+)/.exec(header ?? '')?.[1]);
  return Number.isNaN(took) ? undefined : took;
}
