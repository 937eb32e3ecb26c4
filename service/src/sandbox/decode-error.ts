import * as z from 'zod';
import { longestPath } from './check-helpers.ts';
import { messageLimit, runErrorCodes } from './outcome.ts';
import type { RunError } from './outcome.ts';

const runError = z.object({
  code: z.enum(runErrorCodes),
  message: z.string().max(messageLimit),
  path: z.string().max(longestPath).exactOptional(),
});

/** Reads a runner's error. Throws for a text that is not one: runners are trusted no more than the plugins that they run. */
export const decodeError = (encoded: string): RunError => runError.parse(JSON.parse(encoded));
