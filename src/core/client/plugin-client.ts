import { checkSegment } from '../url.ts';
import { type Replay, type ReplayOptions, readReplay } from './replay.ts';
import { type Operation, type Segments, pathOf, queryOf } from './operation.ts';
import type { PageOptions, RunListOptions } from './pages.ts';
import {
  type Plugin,
  type PluginRun,
  type PluginTypes,
  type PluginVersionSource,
  type Rollout,
  type RunPage,
  type Session,
  type VersionPage,
  pluginSchema,
  pluginTypesSchema,
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

/** Two hundred runs may take so long, in ms. */
const REPLAY_TIMEOUT = 600_000;

type Send = <T>(operation: Operation<T>, options: CallOptions | undefined) => Promise<T>;

/** Splits the options of a list into its query and those of the call. */
function splitOptions<T extends object>(
  options: (T & CallOptions) | undefined,
): [query: T, call: CallOptions] {
  const { signal, actor, ...query } = { ...options } as CallOptions & { actor?: string };
  return [query as T, { signal, ...(actor !== undefined && { actor }) }];
}

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
    const [list, call] = splitOptions<PageOptions>(options);
    const path = this.#path(location, 'versions') + queryOf(list);
    return this.#send({ path, schema: versionPageSchema }, call);
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
    const operation: Operation<Plugin> = {
      method: 'PUT',
      path: this.#path(location, 'live'),
      // A version that is missing by mistake must not come to mean the newest.
      json: { version: version === null ? version : checkSegment('version', version) },
      schema: pluginSchema,
    };
    return this.#send(operation, options);
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
    const operation: Operation<Rollout> = {
      method: 'PUT',
      path: this.#path(location, 'rollout'),
      json: { version: checkSegment('version', version), percent, stop },
      schema: rolloutSchema,
    };
    return this.#send(operation, options);
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
    const [list, call] = splitOptions<RunListOptions>(options);
    const path = this.#path(location, 'runs') + queryOf(list);
    return this.#send({ path, schema: runPageSchema }, call);
  }

  /**
   * Runs the draft, or a version, on the inputs of the newest recorded runs, and compares. Nothing is recorded or changed. Ends
   * when the signal is aborted. Rejects with an `HttpError` of the code `no-payloads` where inputs are not recorded.
   */
  async replay(location: Location, options?: ReplayOptions & CallOptions & Extra): Promise<Replay> {
    const [{ version, limit, onResult }, call] = splitOptions<ReplayOptions>(options);
    const operation: Operation<Replay> = {
      method: 'POST',
      path: this.#path(location, 'replay'),
      json: { version, limit },
      headers: { accept: 'text/event-stream' },
      read: (token) => readReplay(onResult, token),
      timeout: REPLAY_TIMEOUT,
    };
    return this.#send(operation, call);
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
    const [list, call] = splitOptions<{ language?: string }>(options);
    const path = pathOf('v1/types', this.#segmentsOf(location)) + queryOf(list);
    return this.#send({ path, schema: pluginTypesSchema }, call);
  }

  /** Gets what the token allows, and where. */
  async getSession(options?: CallOptions & Extra): Promise<Session> {
    return this.#send({ path: pathOf('v1/session'), schema: sessionSchema }, options);
  }

  #path(location: Location, ...more: (string | Segments)[]): string {
    return pathOf('v1/plugin', this.#segmentsOf(location), ...more);
  }
}
