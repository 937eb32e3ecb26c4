import * as z from 'zod';
import { boundedArray } from './bounded-array.ts';

// All fields of a test are optional, and unknown fields of records and tests are kept: clients rely on both.
const testSchema = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  payload: z.string().optional(),
});

/** How many tests a record may have: far more than anybody writes, and few enough to compute a digest of them for each save. */
const maxTests = 10_000;

/** A plugin source record, as clients of the builder send and receive it. */
export const sourceSchema = z
  .looseObject({
    contents: z.string(),
    lang: z.string(),
    tests: boundedArray(testSchema, maxTests, 'tests').optional(),
  })
  .meta({
    id: 'PluginSource',
    description: 'The source of a plugin, with its tests. Other fields are kept.',
    examples: [
      {
        contents: 'export const run = (input) => `Hello, ${input}!`;\n',
        lang: 'javascript',
        tests: [{ name: 'greets', payload: 'Ada' }],
      },
    ],
  });

export type PluginSource = z.infer<typeof sourceSchema>;
