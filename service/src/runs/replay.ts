import { isWholeCall } from '../outbound/recorded-calls.ts';
import { isSameJson } from '../plugins/same-json.ts';
import { truncateByJson, truncateText } from '../plugins/truncate.ts';
import type { LoggedOutcome } from '../sandbox/outcome.ts';
import type { StoredRun } from '../storage/tables/runs.ts';

/** How a run ended, as far as a replay compares it. */
export interface Ending {
  readonly output?: string;
  readonly error?: { readonly code: string; readonly message?: string; readonly path?: string };
  /** Whether the output is longer. */
  readonly truncated?: boolean;
}

/** Whether a run can be replayed: its input and its calls are recorded whole. */
export const isReplayable = ({ inputBytes, details }: StoredRun): boolean =>
  details.input !== undefined &&
  Buffer.byteLength(details.input) === inputBytes &&
  (details.calls ?? []).every(isWholeCall);

/** How a recorded run ended. */
export function recordedEnding({ code, outputBytes, details }: StoredRun): Ending {
  const { message, path, output } = details;
  if (code !== undefined)
    return {
      error: { code, ...(message !== undefined && { message }), ...(path !== undefined && { path }) },
    };
  const isCut = Buffer.byteLength(output ?? '') < outputBytes;
  return { output: output ?? '', ...(isCut && { truncated: true }) };
}

/** How a replayed run ended, cut as a record is. */
export function replayedEnding(outcome: LoggedOutcome): Ending {
  if ('error' in outcome) {
    const { message, ...error } = outcome.error;
    return { error: { ...error, message: truncateByJson(message).text } };
  }
  const { text, isTruncated } = truncateText(outcome.result.toWellFormed());
  return { output: text, ...(isTruncated && { truncated: true }) };
}

/** Whether a replayed run ended as the recorded one did: with the same output, or the same code and path of an error. */
export function isSameEnding(run: StoredRun, outcome: LoggedOutcome): boolean {
  const before = recordedEnding(run);
  if ('error' in outcome)
    return before.error?.code === outcome.error.code && before.error.path === outcome.error.path;
  if (before.output === undefined) return false;
  const after = outcome.result.toWellFormed();
  // Of an output that was cut, its beginning and its length are known.
  if (before.truncated)
    return after.startsWith(before.output) && Buffer.byteLength(after) === run.outputBytes;
  // A number alone is text, too: `1.0` is not `1`.
  const isJson = [before.output, after].every((text) => /^\s*[[{]/.test(text));
  return after === before.output || (isJson && isSameJson(before.output, after));
}
