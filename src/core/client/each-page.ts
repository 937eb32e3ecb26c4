/** What the pages of all lists have in common. */
export interface Page {
  /** `after` of the next page; missing on the last. */
  next?: string | undefined;
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
