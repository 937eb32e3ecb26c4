import { baseOf } from '../address.ts';
import { type TextResponse, type SendOptions, requestJson, request as sendRequest } from '../request.ts';
import { type ToError, rejectingFetch } from './error-body.ts';
import type { Operation } from './operation.ts';

/** What a client adds to its operations when it sends them. */
export interface OperationOptions extends SendOptions {
  /** What the operation's path is appended to. */
  base: URL;
  /** Headers for every request, such as the token's. */
  headers: Record<string, string>;
  /** Further options of `fetch`. */
  init?: RequestInit;
  toError: ToError;
  signal: AbortSignal | undefined;
}

/**
 * Sends an operation and reads the response. By default, only an operation that reads is tried again, because a lost response
 * does not say whether a write was made, or a plugin ran.
 */
export function sendOperation<T>(
  { method, path, schema, headers, json, text }: Operation<T>,
  {
    base,
    headers: common,
    init,
    toError,
    fetch,
    retry = method ? 0 : undefined,
    ...options
  }: OperationOptions,
): Promise<TextResponse<T>> {
  const type = json ? 'application/json' : text === undefined ? undefined : 'text/plain; charset=utf-8';
  const request = {
    ...options,
    url: baseOf(base) + path,
    init: {
      ...init,
      method,
      headers: { ...common, ...headers, ...(type && { 'content-type': type }) },
      body: json ? JSON.stringify(json) : text,
    } as RequestInit,
    fetch: rejectingFetch(toError, fetch),
    retry,
  };
  return schema ? requestJson(schema, request) : sendRequest(request);
}
