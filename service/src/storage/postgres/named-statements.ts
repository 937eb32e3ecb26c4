import { createHash } from 'node:crypto';
import { DatabaseError } from 'pg';
import type { QueryConfig, QueryResult } from 'pg';

/** What the text of a statement that gets a name ends with. */
export const namedMark = '/* named */';

/** SQLSTATEs of a name that the server does not know or has already, as behind a pooler that gives a client different connections. */
const refusedStates: ReadonlySet<unknown> = new Set(['26000', '42P05']);

/** Where PostgreSQL finds that a migration has changed the result of a statement that has a name. */
const revalidation = 'RevalidateCachedQuery';

/** Whether a statement may only have failed because of its name. */
export const isNameRefused = (error: unknown): boolean =>
  error instanceof DatabaseError && (refusedStates.has(error.code) || error.routine === revalidation);

/**
 * Gives frequent statements names, under which each connection keeps them parsed and planned. Where a name is refused, none is given
 * from then on, so that what failed can be repeated.
 */
export class NamedStatements {
  readonly #names = new Map<string, string>();
  #areRefused = false;

  async query(
    text: string,
    parameters: readonly unknown[],
    query: (statement: QueryConfig) => Promise<QueryResult>,
  ): Promise<QueryResult> {
    const name = this.#nameOf(text);
    try {
      return await query({ text, values: [...parameters], ...(name !== undefined && { name }) });
    } catch (error) {
      if (name !== undefined && isNameRefused(error)) this.#areRefused = true;
      throw error;
    }
  }

  #nameOf(text: string): string | undefined {
    if (this.#areRefused || !text.endsWith(namedMark)) return undefined;
    let name = this.#names.get(text);
    if (name === undefined) {
      name = createHash('sha256').update(text).digest('base64url');
      this.#names.set(text, name);
    }
    return name;
  }
}
