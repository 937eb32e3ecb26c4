import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

// A test may lack any of its fields, and what else a record or a test holds is kept: the interface promises neither.
const test = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  payload: z.string().optional(),
});

/** The interface's plugin source record. */
export const pluginSource = z.looseObject({
  contents: z.string(),
  lang: z.string(),
  tests: z.array(test).optional(),
});

export type PluginSource = z.infer<typeof pluginSource>;

/** Whether two sources have the same language, contents and tests; a source without tests has an empty list of them. */
export const isSameSource = (a: PluginSource, b: PluginSource): boolean =>
  a.lang === b.lang && a.contents === b.contents && isDeepStrictEqual(a.tests ?? [], b.tests ?? []);

/** What is wrong with a value, field by field, without quoting any of it: `tests[0].payload: …; lang: …`. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => {
      const field = path.map((key, i) =>
        typeof key === 'number' ? `[${key}]` : `${i ? '.' : ''}${String(key)}`,
      );
      return `${field.join('') || 'the record'}: ${message}`;
    })
    .join('; ');
}
