import * as z from 'zod';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { RecordedCall, StoredRun } from '../../storage/tables/runs.ts';
import { timeOfUuid } from '../../storage/tables/uuids.ts';
import { timeSchema, toTime } from '../environment/plugin-details.ts';
import { runErrorStatus } from '../run-errors.ts';

/** A recorded call of a run. */
export const callSchema = z
  .object({
    connection: z
      .string()
      .meta({ description: 'The name of the connection; empty if none permits the call.' }),
    method: z.string(),
    url: z.string().meta({ description: 'Without the query.' }),
    status: z.int().optional().meta({ description: 'The status of the response.' }),
    error: z.string().optional().meta({ description: 'The code of the error, if the call failed.' }),
    took: z.number().min(0).meta({ description: 'How long the call took, in ms.' }),
    requestBytes: z.int().min(0),
    responseBytes: z.int().min(0),
    requestType: z.string().optional().meta({
      description:
        'The content type of the request. This field and those below: in `getRun` where payloads are recorded, and in a test with real calls.',
    }),
    requestBody: z.string().optional().meta({ description: 'The first 16 KB of the body.' }),
    responseType: z.string().optional().meta({ description: 'The content type of the response.' }),
    responseBody: z.string().optional().meta({ description: 'The first 16 KB of the body.' }),
    errorMessage: z
      .string()
      .optional()
      .meta({ description: 'The message of the error that the plugin got.' }),
    truncated: z
      .boolean()
      .optional()
      .meta({ description: 'Whether a body was longer than what is recorded, or is not text.' }),
    digest: z
      .string()
      .optional()
      .meta({ description: 'A keyed hash: requests with the same whole address and body have the same.' }),
  })
  .meta({ id: 'Call' });

/** A recorded run. What its texts are is under "Records of runs" in the documentation. */
export const runSchema = z
  .object({
    uuid: z.uuid(),
    timestamp: timeSchema,
    ident: z.string(),
    namespace: z.string(),
    name: z.string(),
    version: z.string(),
    success: z.boolean(),
    error: z
      .object({
        code: z.string(),
        message: z.string().optional(),
        path: z
          .string()
          .optional()
          .meta({ description: 'A JSON Pointer to the error in the input or output.' }),
      })
      .optional(),
    took: z.number().min(0).meta({ description: 'How long the run alone took, in ms.' }),
    waited: z
      .number()
      .min(0)
      .optional()
      .meta({ description: 'How long it waited for calls and timers, in ms; only if it may make calls.' }),
    traceparent: z.string().optional().meta({ description: 'The header `traceparent` of its request.' }),
    inputBytes: z.int().min(0),
    outputBytes: z.int().min(0),
    calls: z
      .array(callSchema)
      .optional()
      .meta({ description: 'Its calls, in the order in which they began.' }),
    logs: z
      .array(z.string())
      .optional()
      .meta({ description: 'What the plugin logged; not with `RUN_RECORDS=outcome`.' }),
    input: z.string().optional().meta({ description: 'The first 16 KB; only where payloads are recorded.' }),
    output: z.string().optional().meta({ description: 'The first 16 KB; only where payloads are recorded.' }),
    truncated: z
      .boolean()
      .optional()
      .meta({ description: 'Whether logs, input or output were longer than what is recorded.' }),
  })
  .meta({ id: 'Run' });

/** `isWhole`: with the bodies of calls. */
export function toRun(plugin: PluginKey, run: StoredRun, isWhole = false) {
  const { namespace, pluginName } = plugin;
  const { id, version, code, took, inputBytes, outputBytes } = run;
  const { message, path, calls, ...texts } = run.details;
  return {
    uuid: id,
    timestamp: timestampOf(run),
    ident: joinIdentifier(plugin),
    namespace,
    name: pluginName,
    version,
    success: code === undefined,
    ...(code !== undefined && {
      error: { code, ...(message !== undefined && { message }), ...(path !== undefined && { path }) },
    }),
    took,
    inputBytes,
    outputBytes,
    ...(calls && { calls: isWhole ? [...calls] : calls.map(withoutBodies) }),
    ...texts,
  };
}

function withoutBodies(call: RecordedCall): RecordedCall {
  const { connection, method, url, status, error, took, requestBytes, responseBytes } = call;
  return {
    connection,
    method,
    url,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    took,
    requestBytes,
    responseBytes,
  };
}

/** A recorded run as clients of version 0.5 know it. */
export const resultSchema = z
  .object({
    uuid: z.uuid(),
    timestamp: timeSchema,
    success: z.boolean(),
    error: z
      .union([z.object({ code: z.int(), message: z.string() }), z.strictObject({})])
      .meta({ description: 'Empty if the run succeeded; `code` is the status of its response.' }),
  })
  .meta({ id: 'Result' });

export const toResult = (run: StoredRun) => ({
  uuid: run.id,
  timestamp: timestampOf(run),
  success: run.code === undefined,
  error:
    run.code === undefined
      ? {}
      : // Where messages are not recorded the code is all there is to say.
        { code: runErrorStatus(run.code), message: run.details.message ?? run.code },
});

const timestampOf = ({ id }: StoredRun) => toTime(timeOfUuid(id));
