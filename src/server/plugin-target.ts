import { checkSegment } from '../core/address.ts';
import { DEFAULT_NAMESPACE } from '../core/editor-url.ts';
import { parseIdent } from '../core/ident.ts';
import { MAX_BODY_BYTES, badRequest, readBody, tooLargeRefusal } from './body.ts';
import { METHODS } from './cors.ts';
import { Refusal } from './refusal.ts';

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
