import * as z from 'zod/mini';
import { SchemaError } from '../errors.ts';
import { type ReadResponse, parseJson, readJson } from '../request.ts';
import { eventToHttpError } from './error-body.ts';
import { readEvents } from './event-stream.ts';
import { parseWith } from './operation.ts';
import { callSchema, failureSchema } from './records.ts';

/** How a run ended: with an output or with an error. */
const ending = {
  /** The first 16 KB of the output. */
  output: z.optional(z.string()),
  error: z.optional(failureSchema),
  /** Whether the output is longer. */
  truncated: z.optional(z.boolean()),
};

/** One recorded run, and how the same input ended in the replay. */
export const replayResultSchema = z.looseObject({
  uuid: z.string(),
  /** Whether both ended with the same output, or with the same code and path of an error. */
  same: z.boolean(),
  before: z.looseObject(ending),
  /** `took`: how long the run alone took, in ms. */
  after: z.looseObject({ ...ending, took: z.number() }),
  /** The calls of the replayed run, which were answered from the record. */
  calls: z.optional(z.array(callSchema)),
});

/** What came of a replay: `replayed` is the sum of `same`, `different` and `failed`. */
export const replaySchema = z.looseObject({
  replayed: z.number(),
  same: z.number(),
  different: z.number(),
  /** Runs that failed now, and had not before. */
  failed: z.number(),
  /** Runs whose input or calls are not recorded whole. */
  skipped: z.number(),
});

export type ReplayResult = z.infer<typeof replayResultSchema>;
export type Replay = z.infer<typeof replaySchema>;

/** What is replayed. */
export interface ReplayOptions {
  /** A version, such as `v1.0.0` (default: the draft as it was built last). */
  version?: string | undefined;
  /** How many of the newest runs: 1 to 200, 50 by default. */
  limit?: number | undefined;
  /** Is called with each run as soon as it was replayed, the newest first. */
  onResult?: ((result: ReplayResult) => void) | undefined;
}

/**
 * Reads the events of a replay, up to `done` or `error`.
 * @param token the one that was sent; it is in no field of an error
 * @internal
 */
export const readReplay =
  (onResult: ReplayOptions['onResult'], token: string | undefined): ReadResponse<Replay> =>
  async (response, label) => {
    const { body, headers } = response;
    const parse = parseWith(replaySchema);
    if (!body || !headers.get('content-type')?.startsWith('text/event-stream'))
      return readJson(parse)(response, label);
    const parseResult = parseWith(replayResultSchema);
    for await (const { type, data } of readEvents(body, label)) {
      if (type === 'result') onResult?.(parseResult(parseJson(data, label), label));
      // The end of the stream is not waited for: a proxy may keep the connection open.
      if (type === 'done') return parse(parseJson(data, label), label);
      if (type === 'error') throw eventToHttpError(parseJson(data, label), response, label, token);
    }
    throw new SchemaError(label, 'the event stream ended before the replay');
  };
