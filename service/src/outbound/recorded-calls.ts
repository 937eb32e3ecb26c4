import { once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import { toStorableText } from '../plugins/truncate.ts';
import type { CallResult, GuestRequest } from '../sandbox/run-calls.ts';
import type { RecordedCall } from '../storage/tables/runs.ts';
import { recordedUrl } from './calls.ts';
import { digestedOf } from './run-caller.ts';
import type { Secrets } from './secrets.ts';

const encoder = new TextEncoder();

/** Whether a call is recorded whole, so that it can be answered again. */
export const isWholeCall = ({ truncated, digest }: RecordedCall): boolean =>
  !truncated && digest !== undefined;

/**
 * Answers the calls of a run from the record of another one, without any request: each recorded call once, in order, by its method,
 * address and body. One that the recorded run did not wait for has no answer before the end of the run.
 */
export class RecordedCalls {
  readonly #left: RecordedCall[];
  readonly #secrets: Pick<Secrets, 'digests'>;
  readonly #records: RecordedCall[] = [];

  constructor(recorded: readonly RecordedCall[], secrets: Pick<Secrets, 'digests'>) {
    this.#left = [...recorded];
    this.#secrets = secrets;
  }

  /** The calls that were made. */
  get records(): readonly RecordedCall[] {
    return this.#records;
  }

  async call(request: GuestRequest, signal: AbortSignal): Promise<CallResult> {
    const method = toStorableText(request.method);
    // The recorded one was made with the key of its time.
    const digests = this.#secrets.digests(...digestedOf(request));
    const index = this.#left.findIndex(
      (one) => one.method === method && one.digest !== undefined && digests.includes(one.digest),
    );
    const [found] = index < 0 ? [] : this.#left.splice(index, 1);
    if (found?.error === 'cancelled' && !signal.aborted) await once(signal, 'abort');
    const result = found ? answerOf(found, request) : notRecorded(request);
    this.#records.push(recordAnswer(request, result, found?.connection));
    return result;
  }
}

/** The record of a call that was answered without a request. */
export const recordAnswer = (request: GuestRequest, result: CallResult, connection = ''): RecordedCall => ({
  connection,
  method: toStorableText(request.method),
  url: toStorableText(recordedUrl(request.url)),
  ...('error' in result ? { error: result.error.code } : { status: result.response.status }),
  took: 0,
  requestBytes: request.body?.byteLength ?? 0,
  responseBytes: 'error' in result ? 0 : result.response.body.byteLength,
});

/** The address of a request as its response has it: as of a real call, without a fragment. */
export function addressOf(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

function answerOf(
  { status, error, errorMessage, responseType, responseBody }: RecordedCall,
  request: GuestRequest,
): CallResult {
  if (status === undefined) {
    const code = error ?? 'unreachable';
    return { error: { code, message: errorMessage ?? `The recorded request ended with ${code}.` } };
  }
  return {
    response: {
      status,
      statusText: STATUS_CODES[status] ?? '',
      url: addressOf(request.url),
      // No other header is recorded.
      headers: responseType === undefined ? [] : [['content-type', responseType]],
      body: encoder.encode(responseBody ?? ''),
    },
  };
}

const notRecorded = ({ method, url }: GuestRequest): CallResult => ({
  error: {
    code: 'call-not-recorded',
    message: `${method} ${recordedUrl(url)} was not recorded with this input and body.`,
  },
});
