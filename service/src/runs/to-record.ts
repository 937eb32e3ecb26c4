import type { PluginKey } from '../plugins/plugin-key.ts';
import type { StoredVersion } from '../plugins/program.ts';
import type { RecordedCall, RunDetails, RunRecord } from '../storage/tables/runs.ts';
import { truncateByJson, truncateLogs, truncateText, toStorableText } from '../plugins/truncate.ts';
import type { RecordLevel } from '../plugins/record-level.ts';

/** Why a run has no output. `path`: a JSON Pointer to the part of the input or output that did not fit. */
export interface CompletedRunError {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

/** An execution that has ended, to be recorded. */
export interface CompletedRun {
  /** The id of its request, a UUIDv7. */
  readonly id: string;
  readonly plugin: PluginKey;
  readonly version: StoredVersion;
  readonly input: string;
  readonly outcome: ({ readonly result: string } | { readonly error: CompletedRunError }) & {
    readonly logs: readonly string[];
  };
  /** How long the run took, in ms, without waiting; 0 when it was refused before it began. */
  readonly took: number;
  /** How long it waited, in ms; only of a run that may make calls. */
  readonly waited?: number | undefined;
  readonly calls?: readonly RecordedCall[] | undefined;
  /** The trace that its request belongs to. */
  readonly traceparent?: string | undefined;
  /** How much its record holds, where that is less than what the service records. */
  readonly level?: RecordLevel | undefined;
}

/** Makes the record of a run. It does not refer to long texts of the run, so that waiting records take little memory. */
export function toRecord(
  { id, plugin, version, input, outcome, took, waited, calls = [], traceparent }: CompletedRun,
  level: RecordLevel,
): RunRecord {
  const { environment, tenant, namespace, pluginName } = plugin;
  const error = 'error' in outcome ? outcome.error : undefined;
  const output = 'result' in outcome ? outcome.result.toWellFormed() : undefined;
  return {
    id,
    pluginId: version.pluginId,
    environment,
    tenant,
    namespace,
    pluginName,
    version: version.version,
    code: error?.code,
    took,
    inputBytes: Buffer.byteLength(input),
    outputBytes: output === undefined ? 0 : Buffer.byteLength(output),
    details: serialize({
      ...(traceparent !== undefined && { traceparent }),
      ...(waited !== undefined && { waited: Math.round(waited * 1000) / 1000 }),
      ...(level !== 'outcome' && {
        ...toDetails(outcome.logs, error, level === 'payloads' ? { input, output } : {}),
        ...(calls.length && { calls }),
      }),
    }),
  };
}

function toDetails(
  allLogs: readonly string[],
  error: CompletedRunError | undefined,
  payloads: { readonly input?: string; readonly output?: string | undefined },
): RunDetails {
  const { logs, isTruncated } = truncateLogs(allLogs);
  const message = error && truncateByJson(error.message);
  let truncated = isTruncated || (message?.isTruncated ?? false);
  const cut = (text: string) => {
    const cutOff = truncateText(text);
    truncated ||= cutOff.isTruncated;
    return cutOff.text;
  };
  const { input, output } = payloads;
  return {
    ...(message && { message: toStorableText(message.text) }),
    ...(error?.path !== undefined && { path: toStorableText(error.path) }),
    ...(logs.length && { logs }),
    ...(input !== undefined && { input: cut(input) }),
    ...(output !== undefined && { output: cut(output) }),
    ...(truncated && { truncated }),
  };
}

/** The details as JSON, which escapes U+0000, because databases cannot store it; `undefined` where there are none. */
const serialize = (details: RunDetails): string | undefined =>
  Object.keys(details).length ? JSON.stringify(details) : undefined;
