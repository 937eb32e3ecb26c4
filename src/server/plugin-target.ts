import { checkSegment, DEFAULT_NAMESPACE, parseIdent } from '../core/url.ts';
import { SchemaError } from '../core/errors.ts';
import { readTextChunks } from '../core/request.ts';
import { METHODS } from './cors.ts';
import { Refusal } from './refusal.ts';

/** The largest body, or query of a GET, in bytes. It has to hold only `ident`, `namespace` and `fn`. */
const MAX_BODY_BYTES = 4096;

const tooLargeRefusal = (what: string) =>
  new Refusal(413, 'too-large', `The ${what} must not be larger than ${MAX_BODY_BYTES} bytes`);

const badRequest = (message: string) => new Refusal(400, 'bad-request', message);

/** The plugin that a token is requested for, checked and frozen. */
export interface PluginTarget {
  /** Environment, a period, tenant. */
  readonly ident: string;
  /** The part of `ident` before its last period. */
  readonly environment: string;
  /** The part of `ident` after its last period: the vendor's user. */
  readonly tenant: string;
  /** Plugin namespace, `default` included. */
  readonly namespace: string;
  /** Plugin name. */
  readonly fn: string;
}

type Fields = Partial<Record<'ident' | 'namespace' | 'fn', unknown>>;

/**
 * Reads which plugin a request is about, from the JSON body of a POST or the query of a GET.
 * @throws Refusal 405, 415, 413 or 400, in this order.
 * @internal
 */
export async function readTarget(request: Request): Promise<PluginTarget> {
  switch (request.method) {
    case 'POST':
      return checkTarget(await jsonFields(request));
    case 'GET':
      return checkTarget(queryFields(new URL(request.url)));
    default:
      throw new Refusal(
        405,
        'method-not-allowed',
        'The method must be POST with a JSON body, or GET with the same fields as query parameters',
        { allow: METHODS },
      );
  }
}

async function jsonFields(request: Request): Promise<Fields> {
  // This is a defence, too: from another origin, neither a form nor a fetch without a preflight can send this type.
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new Refusal(415, 'unsupported-media-type', 'The content-type must be application/json');
  }
  const text = await readBody(request);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badRequest('The body must be JSON, such as {"ident":"com.acme.customer-7","fn":"add-record"}');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest('The body must be a JSON object with ident, namespace and fn');
  }
  return body;
}

function queryFields({ search, searchParams }: URL): Fields {
  if (search.length > MAX_BODY_BYTES) throw tooLargeRefusal('query');
  const fields: Fields = {};
  for (const name of ['ident', 'namespace', 'fn'] as const) {
    const [value, ...more] = searchParams.getAll(name);
    // A proxy or `authorize` might read the other one.
    if (more.length > 0) throw badRequest(`${name} must be given once`);
    fields[name] = value;
  }
  return fields;
}

function checkTarget({ ident, namespace = DEFAULT_NAMESPACE, fn }: Fields): PluginTarget {
  try {
    const checked = checkSegment('ident', ident as string);
    const { environment, tenant } = parseIdent(checked);
    checkSegment('The environment in ident', environment);
    checkSegment('The tenant in ident', tenant);
    return Object.freeze({
      ident: checked,
      environment,
      tenant,
      namespace: checkSegment('namespace', namespace as string),
      fn: checkSegment('fn', fn as string),
    });
  } catch (error) {
    throw badRequest((error as TypeError).message);
  }
}

/**
 * Reads the body as text from a copy of the request, so that `authorize` can read it, too. A body whose `content-length` is
 * too large is refused before it is read. All others are counted as they are read, because that header may be missing or
 * wrong.
 * @throws Refusal 413 when it is too large, 400 when it is not UTF-8 or breaks off.
 */
async function readBody(request: Request): Promise<string> {
  if (request.bodyUsed) {
    throw new TypeError(
      'The request’s body was read before the token endpoint got it; give it request.clone()',
    );
  }
  if (Number(request.headers.get('content-length')) > MAX_BODY_BYTES) throw tooLargeRefusal('body');
  const { body } = request.clone();
  if (!body) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for await (const chunk of readTextChunks(body, MAX_BODY_BYTES, 'body', decoder)) text += chunk;
    return text;
  } catch (error) {
    throw error instanceof SchemaError
      ? tooLargeRefusal('body')
      : badRequest('The body must be whole, and UTF-8');
  }
}
