import * as z from 'zod';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredRun } from '../../storage/tables/runs.ts';
import { timeOfUuid } from '../../storage/tables/uuids.ts';
import { timeSchema, toTime } from '../environment/plugin-details.ts';
import { runErrorStatus } from '../run-errors.ts';

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
    inputBytes: z.int().min(0),
    outputBytes: z.int().min(0),
    logs: z.array(z.string()).optional(),
    input: z.string().optional(),
    output: z.string().optional(),
    truncated: z.boolean().optional().meta({ description: 'Whether logs, input or output were longer.' }),
  })
  .meta({ id: 'Run' });

export function toRun(plugin: PluginKey, run: StoredRun) {
  const { namespace, pluginName } = plugin;
  const { id, version, code, took, inputBytes, outputBytes } = run;
  const { message, path, ...texts } = run.details;
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
    ...texts,
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
