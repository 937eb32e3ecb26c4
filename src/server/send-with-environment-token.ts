import { type ToError, toHttpError } from '../core/client/error-body.ts';
import type { Operation } from '../core/client/operation.ts';
import { sendOperation } from '../core/client/send-operation.ts';
import type { SendOptions, TextResponse } from '../core/request.ts';
import { type EnvironmentToken, withEnvironmentToken } from './environment-token.ts';

export interface SendWithTokenOptions<T> extends SendOptions {
  /** What the operation's path is appended to. */
  base: URL;
  environmentToken: EnvironmentToken;
  signal: AbortSignal | undefined;
  /** Makes the error for a response whose status is not 2xx; by default an `HttpError`. */
  toError?: (...args: [...Parameters<ToError>, token: string]) => ReturnType<ToError>;
  /** Checks what was read out of the response; what it throws is thrown. */
  check?: ((data: T, token: string) => void) | undefined;
}

/** Sends an operation with the environment token, which is in nothing that this throws. */
export const sendWithEnvironmentToken = <T>(
  operation: Operation<T>,
  { environmentToken, toError = toHttpError, check, ...options }: SendWithTokenOptions<T>,
): Promise<TextResponse<T>> =>
  withEnvironmentToken(environmentToken, options, async (headers, token) => {
    const response = await sendOperation(operation, {
      ...options,
      headers,
      toError: (failed, label, signal) => toError(failed, label, signal, token),
    });
    check?.(response.data, token);
    return response;
  });
