import * as z from 'zod';
import { longestPath } from './check-helpers.ts';
import type { NamespaceFinding } from './namespace-check.ts';
import { messageLimit, runErrorCodes } from './outcome.ts';
import type { RunError } from './outcome.ts';

/*
 * Reads what a runner reports. The functions throw for a text that is not such a report, because runners are trusted no more than
 * the plugins that they run. Runners themselves do without these checks, which would make their start a quarter longer.
 */

const message = z.string().max(messageLimit);
const path = z.string().max(longestPath);
const index = z.int().nonnegative();

const runError = z.object({ code: z.enum(runErrorCodes), message, path: path.exactOptional() });

const namespaceFinding = z.object({
  pattern: index.exactOptional(),
  value: index.exactOptional(),
  violation: z.object({ path, message }).exactOptional(),
});

export const decodeError = (encoded: string): RunError => runError.parse(JSON.parse(encoded));

export const decodeFinding = (encoded: string): NamespaceFinding =>
  namespaceFinding.parse(JSON.parse(encoded));
