import { checkSegment } from '../core/address.ts';
import { parseOrigins } from '../core/origins.ts';
import type { AccessClient, EditorTokenRecord } from './access-client.ts';
import { type Authorize, checkAuthorized } from './authorization.ts';
import { preflightAnswer, shareWith } from './cors.ts';
import { checkOrigin } from './origin-check.ts';
import { type PluginTarget, readTarget } from './plugin-target.ts';
import { type Grant, checkGranted } from './permissions.ts';
import { INTERNAL, Refusal, jsonAnswer, refusalAnswer } from './refusal.ts';
import { tokenAnswer } from './token-answer.ts';
import { upstreamRefusal } from './upstream-refusal.ts';

/** What gives editor tokens: an `AccessClient`, or something that stands in for one. */
export type Access = Pick<AccessClient, 'getEditorToken'>;

export interface TokenEndpointOptions<Context = unknown> {
  /** Where editor tokens come from, or a function that chooses, such as by environment or by a worker's bindings. */
  access: Access | ((context: Context, target: PluginTarget) => Access | Promise<Access>);
  /** Whose plugins this caller may edit. Required: without it, anyone could edit everyone's. */
  authorize: Authorize<Context>;
  /**
   * Origins, besides the endpoint's own, whose pages may ask with cookies, such as `https://app.example.com`. Behind a
   * proxy that ends TLS, name the endpoint's own public origin too, unless the request's `url` already has it: browsers
   * that send no `Sec-Fetch-Site` are compared with that.
   */
  allowedOrigins?: readonly string[] | undefined;
  /** The third segment of the access request; default: the plugin's name. */
  ext?: ((target: PluginTarget) => string | Promise<string>) | undefined;
  /**
   * Called with the error behind an answer of 500, 502 or 504; the answer itself does not say it. Where the builder refused
   * the environment token, the error is one line. Default: `console.error`.
   */
  onError?: ((error: unknown, request: Request, context: Context) => void | Promise<void>) | undefined;
}

/** Never rejects. */
export type TokenEndpoint<Context = unknown> = (request: Request, context?: Context) => Promise<Response>;

/**
 * The endpoint that `<plugin-editor token-endpoint>` asks: checks where a request comes from, whose plugin it is about
 * and whether the caller may edit it, and answers `{ token, expires_in?, expires_at? }`; errors are
 * `{ error: { code, message } }`. `context` is passed to the options' functions.
 *
 * A GET from a page's own origin carries no `Origin`, so that with browsers that send no `Sec-Fetch-Site` (over plain
 * http: all of them, but for localhost) only POST works.
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
  mustBeFunction('authorize', authorize);
  mustBeFunction('ext', ext);
  mustBeFunction('onError', onError);

  return async (request, given) => {
    const context = given as Context;
    try {
      return shareWith(request, origins, await answer(request, context));
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'internal', INTERNAL);
      const failure = error instanceof Refusal ? error.cause : error;
      // A client that went away is no failure.
      const left = request.signal.aborted && failure === request.signal.reason;
      if (failure !== undefined && !left) void report(failure, request, context);
      return shareWith(request, origins, refusalAnswer(refusal));
    }
  };

  async function answer(request: Request, context: Context): Promise<Response> {
    checkOrigin(request, origins);
    if (request.method === 'OPTIONS') return preflightAnswer(request);
    const target = await readTarget(request);
    const { own, grant } = checkAuthorized(await authorize(request, target, context), target);
    return own ?? jsonAnswer(200, tokenAnswer(await getToken(request, target, grant, context)));
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
      // Again here, whatever `access` is: what was to be read-only must not become a token for everything.
      checkGranted(grant, record, 'getEditorToken');
      return record;
    } catch (cause) {
      throw upstreamRefusal(cause);
    }
  }

  async function report(error: unknown, request: Request, context: Context): Promise<void> {
    try {
      await onError(error, request, context);
    } catch {
      // Logging that fails must not cost the page its answer, nor end the process as an unhandled rejection.
    }
  }
}

/** `access` may be anything that has the method, and may be written without types. */
const hasToken = (record: Partial<EditorTokenRecord> | null | undefined): record is EditorTokenRecord =>
  typeof record?.token === 'string' && record.token !== '';

const isAccess = (value: unknown): value is Access =>
  typeof (value as Access | undefined)?.getEditorToken === 'function';

function mustBeFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}

function logError(error: unknown): void {
  console.error('plugin-editor: the token endpoint failed:', error);
}
