/** Which page of a list is requested. */
export interface PageOptions {
  /** How many, 1 to 200; the service's default is 50. */
  limit?: number | undefined;
  /** `next` of the page before, with the same other options. */
  after?: string | undefined;
}

/** Which plugins are listed. */
export interface PluginListOptions extends PageOptions {
  /** Those of this namespace alone. */
  namespace?: string | undefined;
}

/** Which runs are listed. */
export interface RunListOptions extends PageOptions {
  /** Those of this version alone, such as `v1.0.0`. */
  version?: string | undefined;
  /** Those that succeeded (`true`), or those that failed (`false`), alone. */
  success?: boolean | undefined;
}
