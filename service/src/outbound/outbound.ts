import type { PluginKey } from '../plugins/plugin-key.ts';
import type { GuestRequest, GuestResponse, HoldBytes } from '../sandbox/run-calls.ts';
import type { CallErrorCode } from './call-error.ts';

/** Which run makes a call. */
export interface CallContext {
  readonly plugin: PluginKey;
  readonly version: string;
  readonly runId: string;
  /** Whether this is a real call of a test, which has no version. */
  readonly isTest: boolean;
  /** The trace that the request of the run belongs to. */
  readonly traceparent?: string | undefined;
}

/** The response to a call, decompressed; or why there is none. */
export type CallResult =
  | { readonly response: GuestResponse }
  | { readonly error: { readonly code: CallErrorCode | 'cancelled'; readonly message: string } };

/** What is recorded of a call. */
export interface CallRecord {
  /** The name of the connection; empty where none permits the request. */
  readonly connection: string;
  readonly method: string;
  /** Without query, fragment and user. */
  readonly url: string;
  readonly status?: number;
  /** `cancelled` where the run ended before the call. */
  readonly error?: CallErrorCode | 'cancelled';
  /** In ms. */
  readonly took: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** Makes the requests of plugins. */
export interface Outbound {
  /**
   * Makes a request where a connection of the plugin's namespace permits it. Never rejects.
   * @param signal ends the call with the code `cancelled`
   * @param hold counts bytes of the response while it arrives
   */
  call(
    request: GuestRequest,
    context: CallContext,
    signal: AbortSignal,
    hold?: HoldBytes,
  ): Promise<CallResult & { readonly record: CallRecord }>;
}
