import * as z from 'zod';
import type { JsonSchema } from '../../plugins/schemas.ts';
import { mebibyte } from '../../units.ts';

/** The job that a process of the schema compiler is sent, as JSON. A missing schema stands for any JSON. */
export interface SchemaJob {
  readonly input?: JsonSchema | undefined;
  readonly output?: JsonSchema | undefined;
  /** The language of the declarations (default: TypeScript). */
  readonly language?: 'python' | undefined;
}

/** The longest job, in bytes: as long as both schemas of a namespace may be, with room for their names. */
export const jobLimit = mebibyte / 8;

/** The longest reply, in bytes. The service parses it between other requests, so that it must not take long. */
export const replyLimit = 2 * mebibyte;

/** The longest pointer in a reply, in UTF-16 code units. Where it would be longer, it leads to a parent of the part. */
export const longestPlace = 500;

/** How long the pointers to the regular expressions may be together. Those beyond lead to the whole schema. */
export const longestPlaces = 256 * 1024;

/** A JSON Pointer that begins with `/input` or `/output`. */
const pointer = z.string().regex(/^\/(?:in|out)put(?:\/|$)/);

const outcome = z.union([
  /** A part is invalid. */
  z.object({ invalid: pointer, message: z.string().max(2000) }),
  z.object({
    /** The regular expressions. The process does not try them, because the engine that runs plugins decides. */
    patterns: z.array(z.object({ pointer, pattern: z.string() })),
    /** What is legal and probably wrong. */
    warnings: z.array(z.object({ pointer, message: z.string().max(1000) })),
    result: z.union([
      z.object({ failed: z.string().max(2000) }),
      z.object({
        /** TypeScript, or the language of the job. */
        declarations: z.string(),
        /** JavaScript; see `check-code.ts`. */
        inputCheck: z.string().optional(),
        outputCheck: z.string().optional(),
      }),
    ]),
  }),
]);

export type SchemaOutcome = z.infer<typeof outcome>;
export type CompiledPair = Extract<SchemaOutcome, { result: unknown }>['result'];

/** Reads the reply of a process. Throws for one that is malformed. */
export const decodeOutcome = (text: string): SchemaOutcome => outcome.parse(JSON.parse(text));
