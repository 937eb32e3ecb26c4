import type { Compilation, Diagnostic } from '../language.ts';
import { diagnosticLimits, programLimit } from './limits.ts';
import type { BuildOutcome } from './limits.ts';

/*
 * Source decides what a compiler says about it: a name of 200,000 characters that is used wrongly 400 times makes 160 MB of
 * messages. What a build answers is bounded where it is made, so that it is never sent whole, and again by the service, which
 * does not take the compiler's word for it.
 */

/** What is left of a text that is too long ends in this. */
const ellipsis = ' …';

/** A text of at most so many bytes of UTF-8, in whole characters. */
export function boundedText(text: string, limit: number): string {
  // A text has at least as many bytes as UTF-16 code units.
  if (text.length <= limit && Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text.slice(0, limit)).subarray(0, limit - Buffer.byteLength(ellipsis));
  // A character that was cut in two decodes as U+FFFD.
  return bytes.toString().replace(/\ufffd$/, '') + ellipsis;
}

/**
 * The diagnostics within the limits, in their order; where there are too many, errors are kept before others, and one more
 * says how many are missing.
 */
export function boundedDiagnostics(found: readonly Diagnostic[]): readonly Diagnostic[] {
  const { count, total } = diagnosticLimits;
  const all = found.map(boundedDiagnostic);
  const errorsFirst = [...all.filter(isError), ...all.filter((one) => !isError(one))];
  const most = all.length > count ? count - 1 : count;
  let room = total - jsonSize(missing(all.length, 1, 1));
  const kept = new Set<Diagnostic>();
  for (const one of errorsFirst.slice(0, most)) {
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

/** A compilation within the limits: one whose program is too large has failed. */
export function boundedCompilation({ program, diagnostics }: Compilation): Compilation {
  const size = program ? jsonSize(program) : 0;
  if (!program || size <= programLimit) {
    return { ...(program && { program }), diagnostics: boundedDiagnostics(diagnostics) };
  }
  const message = `The plugin is too large: built, it has ${size} bytes, and ${programLimit} are possible.`;
  return {
    diagnostics: boundedDiagnostics([...diagnostics, { line: 1, column: 1, message, severity: 'error' }]),
  };
}

export const boundedOutcome = (end: BuildOutcome): BuildOutcome =>
  'failed' in end
    ? { failed: boundedText(end.failed, diagnosticLimits.message) }
    : { compiled: boundedCompilation(end.compiled) };
