import * as z from 'zod';
import type { LinkedSchema } from './link-schema.ts';
import { mebibyte } from '../../units.ts';

/** The job that a process of the schema compiler is sent, as JSON. A missing schema stands for any JSON. */
export interface SchemaJob {
  readonly input?: LinkedSchema | undefined;
  readonly output?: LinkedSchema | undefined;
}

/** The longest job, in bytes: linked schemas are longer than the originals where they have dynamic references. */
export const jobLimit = 8 * mebibyte;

/** The longest reply, in bytes. */
export const replyLimit = 8 * mebibyte;

/** In UTF-16 code units. */
const [longestDeclarations, longestCheck] = [2 ** 20, 3 * 2 ** 20];

const outcome = z.union([
  z.object({ failed: z.string().max(2000) }),
  z.object({
    /** TypeScript. */
    declarations: z.string().max(longestDeclarations),
    /** JavaScript; see `check-code.ts`. */
    inputCheck: z.string().max(longestCheck).optional(),
    outputCheck: z.string().max(longestCheck).optional(),
  }),
]);

export type SchemaOutcome = z.infer<typeof outcome>;

/** Reads the reply of a process. Throws for one that is malformed, or past the limits. */
export const decodeOutcome = (text: string): SchemaOutcome => outcome.parse(JSON.parse(text));
