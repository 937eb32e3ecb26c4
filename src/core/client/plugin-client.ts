import { checkSegment } from '../url.ts';
import { type Operation, type Segments, pathOf, queryOf } from './operation.ts';
import type { PageOptions, RunListOptions } from './pages.ts';
import {
  type Plugin,
  type PluginRun,
  type PluginTypes,
  type PluginVersionSource,
  type RunPage,
  type Session,
  type VersionPage,
  pluginSchema,
  pluginTypesSchema,
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

type Send = <T>(operation: Operation<T>, options: CallOptions | undefined) => Promise<T>;

/** The methods that take an editor token as well as an environment token. Each client names a plugin in its own way. */
export class PluginClient<Location> {
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
  async getPlugin(location: Location, options?: CallOptions): Promise<Plugin> {
    return this.#send({ path: this.#path(location), schema: pluginSchema }, options);
  }

  /** Lists a plugin's versions, the newest first, and resolves with one page of them. */
  async listVersions(
    location: Location,
    { signal, ...list }: PageOptions & CallOptions = {},
  ): Promise<VersionPage> {
    const path = this.#path(location, 'versions') + queryOf(list);
    return this.#send({ path, schema: versionPageSchema }, { signal });
  }

  /** Gets a version, such as `v1.0.0`, with its source. */
  async getVersion(location: Location, version: string, options?: CallOptions): Promise<PluginVersionSource> {
    const path = this.#path(location, 'versions', { version });
    return this.#send({ path, schema: versionSourceSchema }, options);
  }

  /** Deletes a version that is neither live nor the newest. Its number is never used again. */
  async deleteVersion(location: Location, version: string, options?: CallOptions): Promise<void> {
    const path = this.#path(location, 'versions', { version });
    await this.#send({ method: 'DELETE', path }, options);
  }

  /** Makes a version the one that runs where none is named; `null`: the newest again, now and after each deploy. */
  async setLive(location: Location, version: string | null, options?: CallOptions): Promise<Plugin> {
    const operation: Operation<Plugin> = {
      method: 'PUT',
      path: this.#path(location, 'live'),
      // A version that is missing by mistake must not come to mean the newest.
      json: { version: version === null ? version : checkSegment('version', version) },
      schema: pluginSchema,
    };
    return this.#send(operation, options);
  }

  /**
   * Lists a plugin's runs, the newest first, and resolves with one page of them. With an editor token, messages and logs need
   * the permission `runs`.
   */
  async listRuns(
    location: Location,
    { signal, ...list }: RunListOptions & CallOptions = {},
  ): Promise<RunPage> {
    return this.#send(
      { path: this.#path(location, 'runs') + queryOf(list), schema: runPageSchema },
      { signal },
    );
  }

  /** Gets one run by its id, which is the `x-request-id` of the response to its call (`requestId` of `ExecutionClient`). */
  async getRun(uuid: string, options?: CallOptions): Promise<PluginRun> {
    return this.#send({ path: pathOf('v1/run', { uuid }), schema: runSchema }, options);
  }

  /** Gets the types of a plugin's input and output, where its namespace has them. */
  async getTypes(location: Location, options?: CallOptions): Promise<PluginTypes> {
    const path = pathOf('v1/types', this.#segmentsOf(location));
    return this.#send({ path, schema: pluginTypesSchema }, options);
  }

  /** Gets what the token allows, and where. */
  async getSession(options?: CallOptions): Promise<Session> {
    return this.#send({ path: pathOf('v1/session'), schema: sessionSchema }, options);
  }

  #path(location: Location, ...more: (string | Segments)[]): string {
    return pathOf('v1/plugin', this.#segmentsOf(location), ...more);
  }
}
