/** What every page of a list has. */
export interface Page {
  /** `after` of the next page; missing on the last. */
  next?: string | undefined;
}

/**
 * All pages of a list, each asked for when the one before was used.
 *
 *     for await (const { plugins } of eachPage((after) => client.listPlugins(location, { after }))) …
 *
 * @param list asks for one page; what it rejects with ends the loop
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
