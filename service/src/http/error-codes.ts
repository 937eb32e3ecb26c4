/**
 * The service's error codes: for each the statuses that it comes with, and what it means there. A code that is not in this
 * table cannot be used in a response; the OpenAPI document and the reference are made from it.
 */
export const errorCodes = {
  'invalid-request': { 400: 'The request line or the Host header is malformed.' },
  'invalid-path': { 400: 'A segment of the path is not valid; the message says what it must be.' },
  'invalid-query': { 400: 'A query parameter is not valid; `path` says which.' },
  'invalid-header': { 400: 'The header `x-actor` is not valid.' },
  'invalid-cursor': { 400: '`after` is not the `next` of this list with these parameters.' },
  'invalid-json': { 400: 'The body is empty, or is not JSON.' },
  'invalid-text': { 400: 'The body is not UTF-8, or a text has U+0000 or a lone surrogate.' },
  'incomplete-body': { 400: 'The connection ended before the whole body arrived.' },
  'token-missing': { 401: 'The operation needs a token, and the request has none.' },
  'token-invalid': { 401: 'The token is malformed, of the wrong kind, unknown, or has ended.' },
  forbidden: {
    403: 'The token is for another environment, tenant, namespace or plugin; `endSession` was asked with an environment token; or a page of another origin sent a request to `/mcp`.',
  },
  'not-permitted': { 403: 'The token lacks the permission, or the scope, that the operation needs.' },
  'tenant-suspended': { 403: 'The tenant is suspended.' },
  'tenant-deleted': { 403: 'The tenant was deleted, and has not been created again.' },
  'too-many-plugins': { 403: 'The tenant already has as many plugins as it may have.' },
  'too-many-webhooks': { 403: 'The environment has as many webhooks as it may have.' },
  'too-many-libraries': { 403: 'The environment has as many libraries as it may have.' },
  'storage-full': {
    403: 'The tenant stores as much as it may; `details` has `usedMb` and `allowedMb`.',
  },
  'not-found': { 404: 'There is nothing at this path.' },
  'draft-not-found': { 404: 'The plugin has no draft.' },
  'plugin-not-found': { 404: 'There is no such plugin.' },
  'tenant-not-found': { 404: 'There is no such tenant.' },
  'namespace-not-found': { 404: 'The namespace has no types.' },
  'library-not-found': { 404: 'The environment has no such version of a library.' },
  'connection-not-found': { 404: 'The namespace has no such connection.' },
  'webhook-not-found': { 404: 'The environment has no such webhook.' },
  'delivery-not-found': { 404: 'The webhook has no such delivery.' },
  'token-not-found': { 404: 'The environment has no such token.' },
  'version-not-found': { 404: 'The plugin has no such version.' },
  'rollout-not-found': { 404: 'The plugin never had a rollout.' },
  'run-not-found': { 404: 'There is no such run, or its record is no longer kept.' },
  'unknown-language': {
    404: 'The service has no such language.',
    422: 'The record is in a language that the service does not have.',
  },
  'no-language-help': { 404: 'The service has no language help for this language.' },
  'method-not-allowed': { 405: 'The path has no such method; the header `Allow` names those that it has.' },
  'namespace-in-use': { 409: 'The namespace has connections or libraries; remove them first.' },
  'library-exists': {
    409: 'The version of the library has other contents, declarations or description, or had them before it was deleted.',
  },
  'library-in-use': { 409: 'A namespace names the version of the library.' },
  'tenant-exists': { 409: 'The tenant exists already.' },
  'request-timeout': { 408: 'The whole request did not arrive in time.' },
  'version-in-use': { 409: 'The version is the newest, live, or being rolled out.' },
  'rollout-conflict': {
    409: 'Nothing is live yet, the version is live already, or there is another rollout.',
  },
  'no-payloads': { 409: 'Inputs of runs are not recorded: `RUN_RECORDS` or a limit of the tenant says so.' },
  'not-built': { 409: 'The draft has no successful build since it was changed.' },
  'check-superseded': { 409: 'The same token sent a newer check of the plugin, which replaces this one.' },
  'help-superseded': {
    409: 'The same token sent a newer request of this kind for the plugin, which replaces this one.',
  },
  'precondition-failed': { 412: 'The draft is not the one that `If-Match` or `If-None-Match` asks for.' },
  'too-large': { 413: 'The body is larger than the operation allows.' },
  'input-limit': { 413: 'The input is larger than a plugin may get.' },
  'unsupported-media-type': { 415: 'The operation does not take the content type of the body.' },
  misdirected: { 421: 'The header `Host` has a name that the service does not know.' },
  'invalid-body': { 422: 'The body is not valid; `path` says where.' },
  'invalid-record': { 422: 'The body is not a plugin source record; `path` says where.' },
  'too-deep': { 422: 'The arrays and objects of the body are nested too deep.' },
  'help-failed': { 422: 'Language help needed too much time or memory for this source.' },
  'invalid-input': {
    422: 'The input is not JSON, or does not fit the schema; `path` says where. Nothing ran.',
  },
  'invalid-output': { 422: 'The output is not JSON, or does not fit the schema; `path` says where.' },
  'plugin-error': {
    422: 'The plugin threw an error, or its result was not text, or not what JSON can hold.',
  },
  'memory-limit': { 422: 'The run needed more memory than it may have.' },
  'stack-limit': { 422: 'The run ran out of stack.' },
  'output-limit': { 422: 'The output is larger than it may be.' },
  'log-limit': { 422: 'The run logged more than it may.' },
  'module-limit': { 422: 'The version is too large to be compiled.' },
  'headers-too-large': { 431: 'The headers are larger than the service allows.' },
  'too-many-requests': {
    429: 'A rate is used up, too many requests of the tenant are waiting, or the tenant already has a replay.',
  },
  internal: { 500: 'The service failed; its log says more.' },
  'runner-crashed': { 500: 'The process in which the plugin ran ended.' },
  busy: { 503: 'The service has too much to do at the moment.' },
  cancelled: {
    503: 'The service shut down while the run waited, or the client closed the connection while its request waited.',
  },
  'secrets-unavailable': { 503: 'The service has no `SECRETS_KEY`, so it cannot store secrets.' },
  'storage-unavailable': { 503: 'The service cannot use its database at the moment.' },
  'time-limit': { 504: 'The run took longer than it may.' },
  'wait-limit': { 504: 'The run took longer than it may, including all that it waited for.' },
} as const satisfies Readonly<Record<string, Readonly<Partial<Record<number, string>>>>>;

export type ErrorCode = keyof typeof errorCodes;

/** The statuses that a code comes with. */
export type StatusOf<C extends ErrorCode> = C extends ErrorCode ? keyof (typeof errorCodes)[C] : never;

export type ErrorStatus = StatusOf<ErrorCode>;

/** The codes that come with a status. */
export type CodeOf<S extends ErrorStatus> = {
  [C in ErrorCode]: S extends StatusOf<C> ? C : never;
}[ErrorCode];

/** Error codes by their status codes, such as those of an operation. */
export type ErrorList = { readonly [S in ErrorStatus]?: readonly CodeOf<S>[] };
