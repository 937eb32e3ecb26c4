import * as z from 'zod';
import { mebibyte } from '../../units.ts';

/** The job that a process of the library checker is sent, as JSON. */
export interface LibraryJob {
  readonly contents: string;
  readonly declarations?: string | undefined;
}

/** The longest job, in bytes. The service has checked the length of both texts, but JSON may escape every character of them. */
export const jobLimit = 12 * mebibyte;

/** The longest reply, in bytes. */
export const replyLimit = mebibyte;

/** How many names a library may export, and how long they may be. */
export const [maxExports, longestExport] = [10_000, 200];

const outcome = z.union([
  /** One of the two is no module that plugins can import. */
  z.object({ invalid: z.enum(['contents', 'declarations']), message: z.string().max(2000) }),
  z.object({ failed: z.string().max(2000) }),
  z.object({ exports: z.array(z.string().max(longestExport)).max(maxExports) }),
]);

export type LibraryOutcome = z.infer<typeof outcome>;

/** Reads the reply of a process. Throws for one that is malformed. */
export const decodeOutcome = (text: string): LibraryOutcome => outcome.parse(JSON.parse(text));
