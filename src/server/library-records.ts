import * as z from 'zod/mini';
import { pathOf } from '../core/client/operation.ts';

/** One version of a library of your environment. */
export interface LibraryLocation {
  environment: string;
  /** Its name, as in npm, such as `decimal.js` or `@acme/rates`. */
  library: string;
  /** A semantic version, such as `10.6.0`. */
  version: string;
}

/** An ES module that plugins may import if their namespaces name it. */
export interface LibraryDetails {
  /** The source, which imports nothing; at most 1 MiB. */
  contents: string;
  /** Its types in TypeScript, as in a `.d.ts` file; at most 512 KiB. */
  declarations?: string;
  description?: string;
}

/** A version of a library without its contents. */
export const libraryRecordSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  /** The size of its contents, in bytes of UTF-8. */
  bytes: z.number(),
  /** ISO 8601. */
  createdAt: z.string(),
});

/** A version of a library. */
export const librarySchema = z.looseObject({
  ...libraryRecordSchema.shape,
  contents: z.string(),
  declarations: z.optional(z.string()),
  description: z.optional(z.string()),
});

/** A page of libraries without their contents; `next`, where there is more, is `after` of the next page. */
export const libraryPageSchema = z.looseObject({
  libraries: z.array(libraryRecordSchema),
  next: z.optional(z.string()),
});

export type LibraryRecord = z.output<typeof libraryRecordSchema>;
export type Library = z.output<typeof librarySchema>;
export type LibraryPage = z.output<typeof libraryPageSchema>;

/** The path of a version of a library. A name with a scope is two segments. @internal */
export function libraryPath({ environment, library, version }: LibraryLocation): string {
  const [, scope, name = library] = /^(@[^/]*)\/(.*)$/s.exec(library) ?? [];
  return pathOf('v1/environment', { environment }, 'libraries', {
    ...(scope !== undefined && { scope }),
    library: name,
    version,
  });
}
