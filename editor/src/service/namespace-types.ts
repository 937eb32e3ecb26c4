import * as z from 'zod/mini';

/** The types of a plugin's input and output. `declarations` is TypeScript; it is empty where the namespace has no types. */
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
