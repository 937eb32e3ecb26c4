import * as z from 'zod/mini';

/** What a plugin gets and gives. `declarations` is TypeScript, and empty where the namespace has no types. */
export const namespaceTypesSchema = z.looseObject({
  declarations: z.string(),
  input: z.optional(z.unknown()),
  output: z.optional(z.unknown()),
  samples: z.optional(
    z.array(
      z.looseObject({
        name: z.string(),
        description: z.optional(z.string()),
        input: z.unknown(),
        output: z.optional(z.unknown()),
      }),
    ),
  ),
});

export type NamespaceTypes = z.output<typeof namespaceTypesSchema>;
