import type { CallContext, CallRecord, CallResult, GuestRequest, Outbound } from './outbound.ts';

/** Makes the calls of one run, and keeps what is recorded of them. */
export class RunCaller {
  readonly #outbound: Outbound;
  readonly #context: CallContext;
  readonly #records: CallRecord[] = [];

  constructor(outbound: Outbound, context: CallContext) {
    this.#outbound = outbound;
    this.#context = context;
  }

  /** What is recorded of the calls that have ended, in the order in which they ended. */
  get records(): readonly CallRecord[] {
    return this.#records;
  }

  async call(request: GuestRequest, signal: AbortSignal): Promise<CallResult> {
    const { record, ...result } = await this.#outbound.call(request, this.#context, signal);
    this.#records.push(record);
    return result;
  }
}
