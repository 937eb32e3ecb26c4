/** Why a plugin editor could not be shown, or why a method of it failed. The comments are what docs/reference/errors.md says. */
export type PluginEditorErrorCode =
  /** An attribute cannot be used, so no request is made. Or a method cannot be called now. @remedy Do what the message says. */
  | 'config'
  /**
   * There was no connection to the token endpoint in three tries. @remedy Check that the server is up. For an
   * endpoint of another origin, check its CORS headers.
   */
  | 'token-network'
  /** The endpoint, or `fetchToken`, gave no token within `timeout`. @remedy Find out what it waits for. */
  | 'token-timeout'
  /** The endpoint answered 401 or 403. @remedy Have the user sign in, or check what `authorize` answers for this `ident`. */
  | 'token-unauthorized'
  /**
   * The endpoint redirects, and redirects are not followed. @remedy Usually the session has ended: let the endpoint answer
   * 401 then.
   */
  | 'token-redirect'
  /**
   * The endpoint answered with another status. @remedy Look at its log. After 408, 429, 500, 502, 503 and 504 there were three
   * tries, unless the response asks for a wait of more than 30 s (`Retry-After`).
   */
  | 'token-http'
  /**
   * The response, or what `fetchToken` returned, has no token, is not JSON, or is larger than 64 KiB. @remedy Answer with
   * `{"token": "…"}`.
   */
  | 'token-invalid'
  /** `fetchToken` or `tokenHeaders` threw. @remedy Look at `cause`. */
  | 'token-source'
  /** The editor was not ready within `timeout`. @remedy The message says how far it came, and which attribute to check. */
  | 'frame-timeout'
  /** The page's own content security policy forbids the frame. @remedy Add the editor's origin to `frame-src`. */
  | 'frame-blocked'
  /**
   * The editor cannot open the plugin, save it or take a token. @remedy The message quotes the editor's own message, if
   * there is one. If a running editor takes no token, call `reload()`.
   */
  | 'editor'
  /** The browser blocked `openInNewTab()`. @remedy Call it from a click. */
  | 'popup-blocked';

/** What an error has besides code and message; see the fields of `PluginEditorError`. */
export interface PluginEditorErrorDetails {
  status?: number | undefined;
  attempts?: number;
  cause?: unknown;
}

/** The error of `<plugin-editor>`. Neither its message nor its cause holds a token or any text of a response. */
export class PluginEditorError extends Error {
  override readonly name = 'PluginEditorError';
  /** What went wrong, for programs; the message says it for people. */
  declare readonly code: PluginEditorErrorCode;
  /** The HTTP status of the response; missing where there was none, or one that a browser hides. */
  readonly status?: number;
  /** How many requests were sent; 0 where none was. */
  declare readonly attempts: number;

  constructor(
    code: PluginEditorErrorCode,
    message: string,
    { status, attempts = 0, cause }: PluginEditorErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.attempts = attempts;
    if (status) this.status = status;
  }
}

/** Whether something is a `PluginEditorError`, also one of another copy of this package or of another frame. @internal */
export const isPluginEditorError = (value: unknown): value is PluginEditorError =>
  (value as Error | undefined)?.name === 'PluginEditorError';

/**
 * Converts an error of a launch to the `PluginEditorError` that is reported. Any other error means that no URL could be built,
 * for instance because the token holds a lone surrogate.
 * @internal
 */
export const asEditorError = (error: unknown): PluginEditorError =>
  isPluginEditorError(error) ? error : new PluginEditorError('token-invalid', (error as Error).message);

/** The base class of the errors of requests. Their messages name the address without its query. */
export abstract class RequestError extends Error {
  /** How many requests were sent. */
  attempts = 1;
}

/** The response had a status other than 2xx. */
export class HttpError extends RequestError {
  override readonly name: 'HttpError' | 'RunError' = 'HttpError';
  /** The status; 0 for a redirect in a browser, which hides it. */
  declare readonly status: number;
  /** How long the response asked to wait before the next try (`Retry-After`), in ms. */
  declare readonly retryAfter: number | undefined;
  /** The `code` of the response's error body, for programs. Set by the clients, where the body has one. */
  declare readonly code?: string;
  /** Where the request was wrong, as a JSON Pointer: the `path` of the error body, where it has one. */
  declare readonly path?: string;
  /**
   * The service's own words, at most 1,000 characters without control characters: the `message` of the error body. Untrusted
   * text. In the clients of `server.js`, the message of this error ends with it.
   */
  declare readonly detail?: string;
  /** The id of the request in the service's log: the header `x-request-id`, or the `requestId` of the error body. */
  declare readonly requestId?: string;

  constructor(label: string, status: number, retryAfter?: number) {
    super(`${label} answered ${status || 'with a redirect, which is not followed'}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether it was a redirect. None is followed, because it would take the token to another address than the intended one. */
  get redirect(): boolean {
    return [0, 301, 302, 303, 307, 308].includes(this.status);
  }
}

/** The whole response did not arrive in time. */
export class TimeoutError extends RequestError {
  override readonly name = 'TimeoutError';

  constructor(label: string, timeout: number) {
    super(`${label} did not answer within ${timeout} ms`);
  }
}

/**
 * There was no connection, or it broke off. In a browser, also: the CORS headers of the response do not let the page read
 * it.
 */
export class NetworkError extends RequestError {
  override readonly name = 'NetworkError';

  constructor(label: string, error: unknown) {
    // Only the message of the engine's error is kept, because Node's HTTP parser puts a response that it cannot read in there.
    const { message, code } = Object((error as Error | undefined)?.cause ?? error) as {
      message?: string;
      code?: string;
    };
    super(`${label} could not be reached`, { cause: new Error(message || code) });
  }
}

/** The response has another form than the interface describes, or is larger than allowed. */
export class SchemaError extends RequestError {
  override readonly name = 'SchemaError';
  /** Where in the response, such as `languages.0.pretty`; empty for the response as a whole. */
  declare readonly path: string;

  /** @param problem what was expected, never what was there, because a response may hold a secret */
  constructor(label: string, problem: string, path = '') {
    super(`${label} returned wrong data: ${path && path + ': '}${problem}`);
    this.path = path;
  }
}
