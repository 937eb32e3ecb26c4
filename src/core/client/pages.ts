/** A page of any list. */
export interface Page {
  /** `after` of the next page; missing on the last. */
  next?: string | undefined;
}

/** Which page of a list is requested. */
export interface PageOptions {
  /** How many rows a page may have: 1 to 200. By default 50, and 1000 for `listTenants`. */
  limit?: number | undefined;
  /** `next` of the page before. The other options must be the same. */
  after?: string | undefined;
}

/** Which plugins are listed. */
export interface PluginListOptions extends PageOptions {
  /** Only those of this namespace. */
  namespace?: string | undefined;
}

/** Which runs are listed. */
export interface RunListOptions extends PageOptions {
  /** Only those of this version, such as `v1.0.0`. */
  version?: string | undefined;
  /** Only those that succeeded (`true`), or only those that failed (`false`). */
  success?: boolean | undefined;
}

/**
 * Iterates over all pages of a list. Each is requested when the loop is done with the one before.
 *
 *     for await (const { plugins } of eachPage((after) => client.listPlugins(location, { after }))) …
 *
 * @param list requests one page. When it rejects, the loop throws that error
 */
export async function* eachPage<P extends Page>(
  list: (after: string | undefined) => Promise<P>,
): AsyncGenerator<P, void> {
  let after: string | undefined;
  do {
    const page = await list(after);
    yield page;
    after = page.next;
  } while (after !== undefined);
}
