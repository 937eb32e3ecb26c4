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

/** Which share of a plugin's runs by name another version than the live one gets. */
export interface RolloutTerms {
  /** Of 100 runs, how many: 1 to 99. */
  percent: number;
  /**
   * Ends the rollout by itself: once both versions have `runs`, where the share of failures (0 to 1) is higher by `failures`
   * than that of what is live.
   */
  stop?: { runs: number; failures: number } | undefined;
}

/** What is replayed. */
export interface ReplayOptions {
  /** A version, such as `v1.0.0` (default: the draft as it is saved, which must be built). */
  version?: string | undefined;
  /** How many of the newest runs: 1 to 200, 50 by default. */
  limit?: number | undefined;
  /** Is called with each run as soon as it was replayed, the newest first. An error that it throws ends the replay, and rejects the call. */
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

  /** Gets a plugin, and what is live of it. */
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

  /** Deletes a version that is neither live nor the newest. Its number is never used again. */
  async deleteVersion(location: Location, version: string, options?: CallOptions & Extra): Promise<void> {
    const path = this.#path(location, 'versions', { version });
    await this.#send({ method: 'DELETE', path }, options);
  }

  /** Makes a version the one that runs where none is named; `null`: the newest again, now and after each deploy. */
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

  /** Gets the last rollout of a plugin, also after its end. Rejects with an `HttpError` of status 404 where there never was one. */
  async getRollout(location: Location, options?: CallOptions & Extra): Promise<Rollout> {
    return this.#send({ path: this.#path(location, 'rollout'), schema: rolloutSchema }, options);
  }

  /**
   * Gives a version to a share of the runs by name, and pins what is live; or changes the rollout of that version. Terms that
   * are left out are none: without `stop` the rollout does not end by itself.
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

  /** Ends a rollout: all runs by name get the live version again, which stays pinned. */
  async endRollout(location: Location, options?: CallOptions & Extra): Promise<void> {
    await this.#send({ method: 'DELETE', path: this.#path(location, 'rollout') }, options);
  }

  /**
   * Lists a plugin's runs, the newest first, and resolves with one page of them. With an editor token, messages and logs need
   * the permission `runs`.
   */
  async listRuns(location: Location, options?: RunListOptions & CallOptions & Extra): Promise<RunPage> {
    const { version, success, limit, after }: RunListOptions = options ?? {};
    const query = queryOf({ version, success, limit, after });
    return this.#send({ path: this.#path(location, 'runs') + query, schema: runPageSchema }, options);
  }

  /**
   * Runs the draft, or a version, on the inputs of the newest recorded runs, and compares. Nothing is recorded or changed. Ends
   * when the signal is aborted. Rejects with an `HttpError` of the code `no-payloads` where inputs are not recorded.
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

  /** Gets one run by its id, which is the `x-request-id` of the response to its call (`requestId` of `ExecutionClient`). */
  async getRun(uuid: string, options?: CallOptions & Extra): Promise<PluginRun> {
    return this.#send({ path: pathOf('v1/run', { uuid }), schema: runSchema }, options);
  }

  /**
   * Gets the types of a plugin's input and output, where its namespace has them. `language`: that of their declarations, `python`
   * for `TypedDict`s (default: TypeScript).
   */
  async getTypes(
    location: Location,
    options?: CallOptions & { language?: 'typescript' | 'python' } & Extra,
  ): Promise<PluginTypes> {
    const path = pathOf('v1/types', this.#segmentsOf(location)) + queryOf({ language: options?.language });
    return this.#send({ path, schema: pluginTypesSchema }, options);
  }

  /** Gets what the token allows, and where. */
  async getSession(options?: CallOptions & Extra): Promise<Session> {
    return this.#send({ path: pathOf('v1/session'), schema: sessionSchema }, options);
  }

  #path(location: Location, ...more: (string | Segments)[]): string {
    return pathOf('v1/plugin', this.#segmentsOf(location), ...more);
  }
}
