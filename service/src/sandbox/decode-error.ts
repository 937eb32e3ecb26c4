import * as z from 'zod';
import { longestPath } from './check-helpers.ts';
import { messageLimit, runErrorCodes } from './outcome.ts';
import type { RunError } from './outcome.ts';

const runError = z.object({
  code: z.enum(runErrorCodes),
  message: z.string().max(messageLimit),
  path: z.string().max(longestPath).exactOptional(),
});

/** Throws when it is no error that a runner may tell: the sandbox trusts its runners no more than what they run. */
export const decodeError = (encoded: string): RunError => runError.parse(JSON.parse(encoded));
