import * as z from 'zod';
import { boundedArray } from './bounded-array.ts';

// All fields of a test are optional, and unknown fields of records and tests are kept: clients rely on both.
const testSchema = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  payload: z.string().optional().meta({ description: 'The input of the plugin.' }),
  // Described and not checked: a record with another value was always saved as it is.
  expected: z
    .unknown()
    .optional()
    .describe(
      'The result with which the test passes: text, or any JSON. Without it the test asserts nothing.',
    ),
  calls: z
    .unknown()
    .optional()
    .describe(
      'The responses to the calls of the plugin: `[{ method?, url, response: { status?, headers?, body? } }]`. A call gets the first unused one that matches. A test makes no real call unless it is asked to.',
    ),
});

/** What a record may hold: far more than authors write, and little enough to read, validate and save it within milliseconds. */
export const recordLimits = {
  /** The members of all objects and the elements of all arrays. */
  values: 20_000,
  tests: 5_000,
};

/** How many tests a record could have in earlier releases. Such a record is still read, and may be saved with fewer. */
const maxTests = 10_000;

/** A plugin source record, as clients of the builder send and receive it. */
export const sourceSchema = z
  .looseObject({
    contents: z.string().meta({ description: 'The source code.' }),
    lang: z.string().meta({ description: 'The `identifier` of its language.' }),
    tests: boundedArray(testSchema, maxTests, 'tests')
      .optional()
      .meta({
        description: `A record can be saved with at most ${recordLimits.tests.toLocaleString('en')} tests.`,
      }),
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
