import * as z from 'zod';
import { boundedOutcome } from './bounded.ts';
import type { BuildOutcome } from './limits.ts';

const position = z.int().min(1);

const diagnostic = z.object({
  line: position,
  column: position,
  message: z.string(),
  severity: z.enum(['error', 'warning', 'information']),
});

const program = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('script'),
    code: z.string(),
    file: z.string(),
    mappings: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('wasm'), module: z.string() }),
  z.object({ kind: z.literal('python'), code: z.string() }),
]);

const outcome = z.union([
  z.object({ failed: z.string(), defect: z.string().exactOptional() }),
  z.object({
    compiled: z.object({
      program: program.exactOptional(),
      imports: z.array(z.string()).exactOptional(),
      diagnostics: z.array(diagnostic),
    }),
  }),
]);

/**
 * Reads the outcome that a compiler's process reports. The process works on source that anybody may have written, so it is not trusted:
 * throws for a text that is not an outcome, and brings an outcome within the limits.
 */
export const decodeOutcome = (text: string): BuildOutcome => boundedOutcome(outcome.parse(JSON.parse(text)));
