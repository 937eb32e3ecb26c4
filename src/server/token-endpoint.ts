import { checkSegment } from '../core/url.ts';
import { parseOrigins } from '../core/origins.ts';
import type { AccessClient, EditorTokenRecord } from './access-client.ts';
import { type Authorize, checkAuthorized } from './authorization.ts';
import { addCorsHeaders, checkOrigin, preflightResponse } from './cors.ts';
import { type PluginTarget, readTarget } from './plugin-target.ts';
import { type Grant, checkGranted } from './permissions.ts';
import { INTERNAL_MESSAGE, Refusal, jsonResponse, refusalResponse } from './refusal.ts';
import { upstreamRefusal } from './upstream-refusal.ts';

/** Gets editor tokens: an `AccessClient`, or any object with its method. */
export type Access = Pick<AccessClient, 'getEditorToken'>;

export interface TokenEndpointOptions<Context = unknown> {
  /** Gets editor tokens, or a function that returns what does, such as by environment or by a worker's bindings. */
  access: Access | ((context: Context, target: PluginTarget) => Access | Promise<Access>);
  /** Whose plugins this caller may edit. Required: without it, anyone could edit everyone's. */
  authorize: Authorize<Context>;
  /**
   * Origins, besides the endpoint's own, whose pages may ask with cookies, such as `https://app.example.com`. Behind a
   * proxy that ends TLS, name the endpoint's own public origin too, unless the `url` of the request has it: for browsers
   * that send no `Sec-Fetch-Site`, the endpoint compares their `Origin` with that.
   */
  allowedOrigins?: readonly string[] | undefined;
  /** The third segment of the access request; default: the plugin's name. */
  ext?: ((target: PluginTarget) => string | Promise<string>) | undefined;
  /**
   * Called with the error behind a response of 500, 502 or 504, which the response does not have. If the builder refused the
   * environment token, the error is one line that says what to do. Default: `console.error`.
   */
  onError?: ((error: unknown, request: Request, context: Context) => void | Promise<void>) | undefined;
}

/** Answers a request for an editor token. Never rejects. */
export type TokenEndpoint<Context = unknown> = (request: Request, context?: Context) => Promise<Response>;

/**
 * Creates the endpoint that `token-endpoint` of `<plugin-editor>` names. It checks which page a request comes from, which
 * plugin it asks for and whether the caller may edit that plugin, and answers `{ token, expires_in?, expires_at? }`, or
 * `{ error: { code, message } }` with a status of 400 or above. The functions of the options get `context`.
 *
 * Browsers send no `Sec-Fetch-Site` over plain http, other than to localhost, and no `Origin` with a GET to the page's own
 * origin. Over plain http, therefore, only POST works.
 * @throws TypeError for an option that is missing or cannot be used; the message names it.
 */
export function createTokenEndpoint<Context = unknown>(
  options: TokenEndpointOptions<Context>,
): TokenEndpoint<Context> {
  const { access, authorize, ext = ({ fn }: PluginTarget) => fn, onError = logError } = options;
  const origins = parseOrigins(options.allowedOrigins);
  if (!isAccess(access) && typeof access !== 'function') {
    throw new TypeError('access must be an AccessClient, or a function that gives one');
  }
  checkFunction('authorize', authorize);
  checkFunction('ext', ext);
  checkFunction('onError', onError);

  return async (request, given) => {
    const context = given as Context;
    try {
      return addCorsHeaders(request, origins, await answer(request, context));
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal', INTERNAL_MESSAGE);
      const failure =
        error instanceof Refusal
          ? error.cause
          : (error ?? new Error('A function of the options threw no error'));
      // It is no failure when a client has closed the connection.
      const hasLeft = request.signal.aborted && failure === request.signal.reason;
      if (failure !== undefined && !hasLeft) void reportError(failure, request, context);
      return addCorsHeaders(request, origins, refusalResponse(refusal));
    }
  };

  async function answer(request: Request, context: Context): Promise<Response> {
    checkOrigin(request, origins);
    if (request.method === 'OPTIONS') return preflightResponse(request);
    const target = await readTarget(request);
    const { response, grant } = checkAuthorized(await authorize(request, target, context), target);
    return response ?? jsonResponse(200, tokenBody(await getToken(request, target, grant, context)));
  }

  async function getToken(
    request: Request,
    target: PluginTarget,
    grant: Grant,
    context: Context,
  ): Promise<EditorTokenRecord> {
    const { ident: identifier, namespace } = target;
    const location = { identifier, namespace, ext: checkSegment('ext', await ext(target)), ...grant };
    const client = typeof access === 'function' ? await access(context, target) : access;
    if (!isAccess(client)) throw new TypeError('access must give an AccessClient');
    try {
      const record: Partial<EditorTokenRecord> | null | undefined = await client.getEditorToken(location, {
        signal: request.signal,
      });
      if (!hasToken(record)) throw new TypeError('getEditorToken gave no token');
      // An `AccessClient` has checked this, but `access` may be anything, and a token must not allow more than was asked for.
      checkGranted(grant, record, 'getEditorToken');
      return record;
    } catch (cause) {
      throw upstreamRefusal(cause);
    }
  }

  async function reportError(error: unknown, request: Request, context: Context): Promise<void> {
    try {
      await onError(error, request, context);
    } catch {
      // A failure of `onError` must neither keep the page from its response nor end the process as an unhandled rejection.
    }
  }
}

/** This is checked, because `access` may be of a class without types. */
const hasToken = (record: Partial<EditorTokenRecord> | null | undefined): record is EditorTokenRecord =>
  typeof record?.token === 'string' && record.token !== '';

const isAccess = (value: unknown): value is Access =>
  typeof (value as Access | undefined)?.getEditorToken === 'function';

function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}

function logError(error: unknown): void {
  console.error('plugin-editor: the token endpoint failed:', error);
}

/** ISO 8601. `Date.parse` alone accepts nearly anything, such as text in brackets behind a date. */
const ISO_DATE = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/;

const isPositive = (value: unknown): value is number => Number.isFinite(value) && (value as number) > 0;

/** Takes the fields that a page gets out of a record: the token and when it ends. Others may not be meant for a browser. */
function tokenBody({ token, expires_in, expires_at }: EditorTokenRecord): Record<string, string | number> {
  return {
    token,
    ...(isPositive(expires_in) && { expires_in }),
    ...((isPositive(expires_at) ||
      (typeof expires_at === 'string' &&
        ISO_DATE.test(expires_at) &&
        !Number.isNaN(Date.parse(expires_at)))) && {
      expires_at,
    }),
  };
}
