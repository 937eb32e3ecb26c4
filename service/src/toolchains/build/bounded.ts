import type { Compilation, Diagnostic } from '../language.ts';
import { defectLimit, diagnosticLimits, programLimit } from './limits.ts';
import type { BuildOutcome } from './limits.ts';

/*
 * The source determines how much a compiler says about it: a name of 200,000 characters that is misused 400 times makes 160 MB
 * of messages. The outcome of a build is bounded in the compiler's process, so that it is never sent whole; and again in the
 * service, which does not trust that process.
 */

/** The end of a text that was truncated. */
const ellipsis = ' …';

/** Truncates a text to at most `limit` bytes of UTF-8, in whole characters. */
function boundedText(text: string, limit: number): string {
  // A text has at least as many bytes as UTF-16 code units.
  if (text.length <= limit && Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text.slice(0, limit)).subarray(0, limit - Buffer.byteLength(ellipsis));
  // An incomplete character at the end decodes as U+FFFD.
  return bytes.toString().replace(/\ufffd$/, '') + ellipsis;
}

/**
 * Brings diagnostics within the limits, in their order. Where there are too many, errors are kept before others, and one more
 * diagnostic says how many are missing.
 */
function boundedDiagnostics(found: readonly Diagnostic[]): readonly Diagnostic[] {
  const { count, total } = diagnosticLimits;
  const all = found.map(boundedDiagnostic);
  const errorsFirst = [...all.filter(isError), ...all.filter((one) => !isError(one))];
  const max = all.length > count ? count - 1 : count;
  let room = total - jsonSize(missing(all.length, 1, 1));
  const kept = new Set<Diagnostic>();
  for (const one of errorsFirst.slice(0, max)) {
    room -= jsonSize(one);
    if (room < 0) break;
    kept.add(one);
  }
  const firstMissing = all.find((one) => !kept.has(one));
  return [
    ...all.filter((one) => kept.has(one)),
    ...(firstMissing ? [missing(all.length - kept.size, firstMissing.line, firstMissing.column)] : []),
  ];
}

const isError = ({ severity }: Diagnostic) => severity === 'error';

const boundedDiagnostic = ({ line, column, message, severity }: Diagnostic): Diagnostic => ({
  line,
  column,
  message: boundedText(message, diagnosticLimits.message),
  severity,
});

const missing = (number: number, line: number, column: number): Diagnostic => ({
  line,
  column,
  message: `${number} more ${number === 1 ? 'problem is' : 'problems are'} not shown.`,
  severity: 'information',
});

const jsonSize = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;

/** Brings a compilation within the limits. One whose program is too large becomes a failed one. */
export function boundedCompilation({ program, imports, diagnostics }: Compilation): Compilation {
  const size = program ? jsonSize(program) : 0;
  if (!program || size <= programLimit) {
    return {
      ...(program && { program }),
      ...(imports?.length && { imports }),
      diagnostics: boundedDiagnostics(diagnostics),
    };
  }
  const message = `The plugin is too large: built, it has ${size} bytes, and the limit is ${programLimit}.`;
  return {
    diagnostics: boundedDiagnostics([...diagnostics, { line: 1, column: 1, message, severity: 'error' }]),
  };
}

export const boundedOutcome = (outcome: BuildOutcome): BuildOutcome =>
  'failed' in outcome
    ? {
        failed: boundedText(outcome.failed, diagnosticLimits.message),
        ...(outcome.defect !== undefined && { defect: boundedText(outcome.defect, defectLimit) }),
      }
    : { compiled: boundedCompilation(outcome.compiled) };
