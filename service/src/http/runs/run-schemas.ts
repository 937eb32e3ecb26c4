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
    connection: z.string().meta({ description: 'Its name; empty where none permits the call.' }),
    method: z.string(),
    url: z.string().meta({ description: 'Without query.' }),
    status: z.int().optional(),
    error: z.string().optional().meta({ description: 'The code of its error.' }),
    took: z.number().min(0),
    requestBytes: z.int().min(0),
    responseBytes: z.int().min(0),
    requestType: z.string().optional(),
    requestBody: z.string().optional().meta({ description: 'With payloads, as what follows.' }),
    responseType: z.string().optional(),
    responseBody: z.string().optional(),
    errorMessage: z.string().optional().meta({ description: 'What the plugin was told.' }),
    truncated: z.boolean().optional().meta({ description: 'Whether a body was longer, or is no text.' }),
    digest: z
      .string()
      .optional()
      .meta({ description: 'Is the same for the same whole address and body of the request.' }),
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
        path: z.string().optional().meta({ description: 'What in the input or output was wrong.' }),
      })
      .optional(),
    took: z.number().min(0).meta({ description: 'Milliseconds of the run alone.' }),
    waited: z
      .number()
      .min(0)
      .optional()
      .meta({ description: 'Milliseconds that it waited for calls and timers, where it may make calls.' }),
    traceparent: z
      .string()
      .optional()
      .meta({ description: 'The trace of its request, from the header of that name.' }),
    inputBytes: z.int().min(0),
    outputBytes: z.int().min(0),
    calls: z
      .array(callSchema)
      .optional()
      .meta({ description: 'Its calls, in the order in which they began.' }),
    logs: z.array(z.string()).optional(),
    input: z.string().optional(),
    output: z.string().optional(),
    truncated: z.boolean().optional().meta({ description: 'Whether logs, input or output were longer.' }),
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
      .meta({ description: 'Empty where the run succeeded, else the status of its response.' }),
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
