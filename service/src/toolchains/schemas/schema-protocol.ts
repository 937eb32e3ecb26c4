import * as z from 'zod';
import type { LinkedSchema } from './link-schema.ts';

/** What a process of the schema compiler is sent, as JSON; a missing schema is any JSON. */
export interface SchemaJob {
  readonly input?: LinkedSchema | undefined;
  readonly output?: LinkedSchema | undefined;
}

/** The longest message that it takes, in bytes: what dynamic references are written out to included. */
export const jobLimit = 8 * 2 ** 20;

/** The longest that it answers with, in bytes. */
export const replyLimit = 8 * 2 ** 20;

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

/** Reads what a process says. Throws for what is no answer, or is past the limits. */
export const decodeOutcome = (text: string): SchemaOutcome => outcome.parse(JSON.parse(text));
