import type { PageOptions, RunListOptions } from './list-options.ts';
import type { Operation, Segments } from './operation.ts';
import * as operations from './plugin-operations.ts';
import type {
  Plugin,
  PluginRun,
  PluginTypes,
  PluginVersionSource,
  RunPage,
  Session,
  VersionPage,
} from './plugin-records.ts';

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
   * @param segmentsOf makes the three segments that name a plugin in a path
   * @param send sends an operation with the client's token
   * @internal
   */
  constructor(segmentsOf: (location: Location) => Segments, send: Send) {
    this.#segmentsOf = segmentsOf;
    this.#send = send;
  }

  /** Gets a plugin, and what is live of it. */
  async getPlugin(location: Location, options?: CallOptions): Promise<Plugin> {
    return this.#send(operations.getPlugin(this.#segmentsOf(location)), options);
  }

  /** Lists a plugin's versions, the newest first, and resolves with one page of them. */
  async listVersions(
    location: Location,
    { signal, ...list }: PageOptions & CallOptions = {},
  ): Promise<VersionPage> {
    return this.#send(operations.listVersions(this.#segmentsOf(location), list), { signal });
  }

  /** Gets a version, such as `v1.0.0`, with its source. */
  async getVersion(location: Location, version: string, options?: CallOptions): Promise<PluginVersionSource> {
    return this.#send(operations.getVersion(this.#segmentsOf(location), version), options);
  }

  /** Makes a version the one that runs where none is named; `null`: the newest again, now and after each deploy. */
  async setLive(location: Location, version: string | null, options?: CallOptions): Promise<Plugin> {
    return this.#send(operations.setLive(this.#segmentsOf(location), version), options);
  }

  /**
   * Lists a plugin's runs, the newest first, and resolves with one page of them. With an editor token, messages and logs need
   * the permission `runs`.
   */
  async listRuns(
    location: Location,
    { signal, ...list }: RunListOptions & CallOptions = {},
  ): Promise<RunPage> {
    return this.#send(operations.listRuns(this.#segmentsOf(location), list), { signal });
  }

  /** Gets one run by its id, which is the `x-request-id` of the response to its call (`requestId` of `ExecutionClient`). */
  async getRun(uuid: string, options?: CallOptions): Promise<PluginRun> {
    return this.#send(operations.getRun(uuid), options);
  }

  /** Gets the types of a plugin's input and output, where its namespace has them. */
  async getTypes(location: Location, options?: CallOptions): Promise<PluginTypes> {
    return this.#send(operations.getTypes(this.#segmentsOf(location)), options);
  }

  /** Gets what the token allows, and where. */
  async getSession(options?: CallOptions): Promise<Session> {
    return this.#send(operations.getSession(), options);
  }
}
