import * as z from 'zod';
import { boundedOutcome } from './bounded.ts';
import type { CompilerReport } from './compiler-protocol.ts';

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
]);

const report = z.object({
  outcome: z.union([
    z.object({ failed: z.string() }),
    z.object({
      compiled: z.object({ program: program.exactOptional(), diagnostics: z.array(diagnostic) }),
    }),
  ]),
  memory: z.number(),
});

/**
 * Reads the report of a compiler's process. The process works on source that anybody may have written, so it is not trusted:
 * throws for a text that is not a report, and brings a report within the limits.
 */
export function decodeReport(text: string): CompilerReport {
  const { outcome, memory } = report.parse(JSON.parse(text));
  return { outcome: boundedOutcome(outcome), memory };
}
