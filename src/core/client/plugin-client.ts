import { checkSegment } from '../url.ts';
import { parseJson } from '../request.ts';
import { type Operation, type Segments, callBack, parseWith, pathOf, queryOf } from './operation.ts';
import type { PageOptions, RunListOptions } from './pages.ts';
import {
  type Plugin,
  type PluginRun,
  type PluginTypes,
  type PluginVersionSource,
  type Replay,
  type ReplayResult,
  type Rollout,
  type RunPage,
  type Session,
  type VersionPage,
  pluginSchema,
  pluginTypesSchema,
  replayResultSchema,
  replaySchema,
  rolloutSchema,
  runPageSchema,
  runSchema,
  sessionSchema,
  versionPageSchema,
  versionSourceSchema,
} from './records.ts';

/** What can be set for a single call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** How a version is rolled out. */
export interface RolloutTerms {
  /** How many of 100 runs that name no version get it: 1 to 99. */
  percent: number;
  /**
   * When the rollout ends by itself: once both versions have had `runs` runs, if the share of failed runs (0 to 1) is higher than
   * that of the live version by `failures`. Without it, the rollout does not end by itself.
   */
  stop?: { runs: number; failures: number } | undefined;
}

/** What a replay runs. */
export interface ReplayOptions {
  /** The version to run, such as `v1.0.0`; by default the saved draft, which must be built. */
  version?: string | undefined;
  /** How many of the newest runs: 1 to 200, 50 by default. */
  limit?: number | undefined;
  /** Called with each run once it was replayed, the newest first. An error that it throws ends the replay and rejects the call. */
  onResult?: ((result: ReplayResult) => void) | undefined;
}

/** Two hundred runs may take so long, in ms. */
const REPLAY_TIMEOUT = 600_000;

type Send = <T>(operation: Operation<T>, options: CallOptions | undefined) => Promise<T>;

/**
 * The methods that take an editor token as well as an environment token. Each client names a plugin in its own way. `Extra`: what
 * else can be set for a single call.
 */
export class PluginClient<Location, Extra extends object = object> {
  #segmentsOf: (location: Location) => Segments;
  #send: Send;

  /**
   * @param segmentsOf makes the three segments that name a plugin in a path: ident, namespace and name
   * @param send sends an operation with the client's token
   * @internal
   */
  constructor(segmentsOf: (location: Location) => Segments, send: Send) {
    this.#segmentsOf = segmentsOf;
    this.#send = send;
  }

  /** Gets a plugin: its draft, its versions and what is live. */
  async getPlugin(location: Location, options?: CallOptions & Extra): Promise<Plugin> {
    return this.#send({ path: this.#path(location), schema: pluginSchema }, options);
  }

  /** Lists a plugin's versions, the newest first, and resolves with one page of them. */
  async listVersions(location: Location, options?: PageOptions & CallOptions & Extra): Promise<VersionPage> {
    const query = queryOf({ limit: options?.limit, after: options?.after });
    return this.#send({ path: this.#path(location, 'versions') + query, schema: versionPageSchema }, options);
  }

  /** Gets a version, such as `v1.0.0`, with its source. */
  async getVersion(
    location: Location,
    version: string,
    options?: CallOptions & Extra,
  ): Promise<PluginVersionSource> {
    const path = this.#path(location, 'versions', { version });
    return this.#send({ path, schema: versionSourceSchema }, options);
  }

  /**
   * Deletes a version. For one that is the newest, live or being rolled out, rejects with an `HttpError` of status 409. Its number is
   * never used again.
   */
  async deleteVersion(location: Location, version: string, options?: CallOptions & Extra): Promise<void> {
    const path = this.#path(location, 'versions', { version });
    await this.#send({ method: 'DELETE', path }, options);
  }

  /** Makes a version live: runs that name no version get it. `null` makes the newest live, now and after each deploy. */
  async setLive(location: Location, version: string | null, options?: CallOptions & Extra): Promise<Plugin> {
    return this.#send(
      {
        method: 'PUT',
        path: this.#path(location, 'live'),
        // A version that is missing by mistake must not come to mean the newest.
        json: { version: version === null ? version : checkSegment('version', version) },
        schema: pluginSchema,
      },
      options,
    );
  }

  /** Gets the last rollout of a plugin, also after its end. If there never was one, rejects with an `HttpError` of status 404. */
  async getRollout(location: Location, options?: CallOptions & Extra): Promise<Rollout> {
    return this.#send({ path: this.#path(location, 'rollout'), schema: rolloutSchema }, options);
  }

  /**
   * Starts a rollout of a version, which also pins what is live, or changes the running rollout of that version. If another version
   * is being rolled out, or this one is live, rejects with an `HttpError` of status 409.
   */
  async setRollout(
    location: Location,
    version: string,
    { percent, stop }: RolloutTerms,
    options?: CallOptions & Extra,
  ): Promise<Rollout> {
    return this.#send(
      {
        method: 'PUT',
        path: this.#path(location, 'rollout'),
        json: { version: checkSegment('version', version), percent, stop },
        schema: rolloutSchema,
      },
      options,
    );
  }

  /** Ends a rollout: all runs that name no version get the live version again, which stays pinned. */
  async endRollout(location: Location, options?: CallOptions & Extra): Promise<void> {
    await this.#send({ method: 'DELETE', path: this.#path(location, 'rollout') }, options);
  }

  /**
   * Lists a plugin's runs, the newest first, and resolves with one page of them. An editor token needs the permission `runs` for
   * this, as for `getRun`.
   */
  async listRuns(location: Location, options?: RunListOptions & CallOptions & Extra): Promise<RunPage> {
    const { version, success, limit, after }: RunListOptions = options ?? {};
    const query = queryOf({ version, success, limit, after });
    return this.#send({ path: this.#path(location, 'runs') + query, schema: runPageSchema }, options);
  }

  /**
   * Runs the draft, or a version, on the inputs of the newest recorded runs, and compares the results. Records and changes nothing.
   * Rejects with an `HttpError` with the code `no-payloads` if inputs are not recorded, and of status 429 while the tenant has
   * another replay. An editor token needs the permissions `write` and `runs`.
   */
  async replay(location: Location, options?: ReplayOptions & CallOptions & Extra): Promise<Replay> {
    const { version, limit, onResult }: ReplayOptions = options ?? {};
    return this.#send(
      {
        method: 'POST',
        path: this.#path(location, 'replay'),
        json: { version, limit },
        headers: { accept: 'text/event-stream' },
        schema: replaySchema,
        events: {
          last: 'done',
          onEvent: ({ type, data }, label) => {
            if (type === 'result')
              callBack(onResult, parseWith(replayResultSchema)(parseJson(data, label), label));
          },
        },
        timeout: REPLAY_TIMEOUT,
      },
      options,
    );
  }

  /** Gets one run by its id: the `x-request-id` of its response, which `ExecutionClient.runWithDetails` gives as `requestId`. */
  async getRun(uuid: string, options?: CallOptions & Extra): Promise<PluginRun> {
    return this.#send({ path: pathOf('v1/run', { uuid }), schema: runSchema }, options);
  }

  /**
   * Gets the types of a plugin's input and output, which its namespace has; the plugin need not exist. `language`: the one of the
   * declarations, by default `typescript`.
   */
  async getTypes(
    location: Location,
    options?: CallOptions & { language?: 'typescript' | 'python' } & Extra,
  ): Promise<PluginTypes> {
    const path = pathOf('v1/types', this.#segmentsOf(location)) + queryOf({ language: options?.language });
    return this.#send({ path, schema: pluginTypesSchema }, options);
  }

  /** Gets what the token allows, and for which plugins. */
  async getSession(options?: CallOptions & Extra): Promise<Session> {
    return this.#send({ path: pathOf('v1/session'), schema: sessionSchema }, options);
  }

  #path(location: Location, ...more: (string | Segments)[]): string {
    return pathOf('v1/plugin', this.#segmentsOf(location), ...more);
  }
}
