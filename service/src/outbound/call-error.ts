/** Why a request could not be made, as plugins see it. */
export type CallErrorCode =
  | 'not-granted'
  | 'credential-missing'
  | 'address-refused'
  | 'unreachable'
  | 'call-timeout'
  | 'response-limit'
  | 'response-refused'
  | 'too-many-calls';

/** A request that could not be made. Its message is for the plugin's author: it names no address and no credential. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: CallErrorCode;

  constructor(code: CallErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
