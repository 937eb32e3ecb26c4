import { keptBytes, toStorableText } from '../plugins/truncate.ts';
import type { GuestRequest, HoldBytes } from '../sandbox/run-calls.ts';
import type { RecordedCall } from '../storage/tables/runs.ts';
import type { CallContext, CallResult, Outbound } from './outbound.ts';
import type { Secrets } from './secrets.ts';

const encoder = new TextEncoder();

/** How much of the bodies of all calls of a run is recorded, in bytes. */
const keptOfRun = 64 * 1024;

export interface Payloads {
  /** Makes digests of the calls (default: there are none). */
  readonly secrets?: Secrets;
}

/** Makes the calls of one run, and keeps what is recorded of them. */
export class RunCaller {
  readonly #outbound: Outbound;
  readonly #context: CallContext;
  readonly #payloads: Payloads | undefined;
  /** In the order in which the calls began; `undefined` for one that has not ended. */
  readonly #records: (RecordedCall | undefined)[] = [];
  #room = keptOfRun;

  /** `payloads`: given where bodies are recorded. */
  constructor(outbound: Outbound, context: CallContext, payloads?: Payloads) {
    this.#outbound = outbound;
    this.#context = context;
    this.#payloads = payloads;
  }

  /**
   * What is recorded of the calls that have ended, in the order in which they began: a replay, whose responses come at once, gives
   * those of equal calls in this order.
   */
  get records(): readonly RecordedCall[] {
    return this.#records.filter((one) => one !== undefined);
  }

  async call(request: GuestRequest, signal: AbortSignal, hold?: HoldBytes): Promise<CallResult> {
    const place = this.#records.push(undefined) - 1;
    const { record, ...result } = await this.#outbound.call(request, this.#context, signal, hold);
    const { method, url, ...rest } = record;
    this.#records[place] = {
      ...rest,
      method: toStorableText(method),
      url: toStorableText(url),
      took: Math.round(record.took * 100) / 100,
      ...(this.#payloads && this.#payloadsOf(this.#payloads, request, result)),
    };
    return result;
  }

  #payloadsOf({ secrets }: Payloads, request: GuestRequest, result: CallResult): Partial<RecordedCall> {
    const sent = this.#keep(request.body);
    const received = 'response' in result ? this.#keep(result.response.body) : {};
    const failure = 'error' in result ? this.#keep(encoder.encode(result.error.message)) : {};
    const sentType = typeOf(request.headers);
    const receivedType = 'response' in result ? typeOf(result.response.headers) : undefined;
    const digest = secrets?.digest(...digestedOf(request));
    return {
      ...(sentType !== undefined && { requestType: sentType }),
      ...(sent.text !== undefined && { requestBody: sent.text }),
      ...(receivedType !== undefined && { responseType: receivedType }),
      ...(received.text !== undefined && { responseBody: received.text }),
      ...(failure.text !== undefined && { errorMessage: failure.text }),
      ...([sent, received, failure].some(({ isTruncated }) => isTruncated) && { truncated: true }),
      ...(digest !== undefined && { digest }),
    };
  }

  /** The beginning of a body as text, in whole characters. Bytes that are no text are left out. */
  #keep(body: Uint8Array | undefined): { readonly text?: string; readonly isTruncated?: boolean } {
    if (!body?.byteLength) return {};
    const kept = body.subarray(0, Math.min(keptBytes, this.#room));
    const isCut = kept.byteLength < body.byteLength;
    try {
      // As a stream, so that a character that was cut in two is left out.
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(kept, { stream: isCut });
      this.#room -= kept.byteLength;
      return { text: toStorableText(text), isTruncated: isCut };
    } catch {
      return { isTruncated: true };
    }
  }
}

/** What the digest of a call is of: its address and its body. */
export const digestedOf = ({ url, body }: GuestRequest): readonly [string, Uint8Array] => [
  URL.canParse(url) ? new URL(url).href : url,
  body ?? new Uint8Array(),
];

const typeOf = (headers: GuestRequest['headers']): string | undefined => {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return type === undefined ? undefined : toStorableText(type.slice(0, 200));
};
