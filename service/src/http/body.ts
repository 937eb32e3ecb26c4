import type { Context } from 'hono';
import { reserveBody } from './body-budget.ts';
import type { CodeOf } from './error-codes.ts';
import { badRequest, ServiceError } from './errors.ts';
import { isDeeperThan, jsonDepth } from './json-depth.ts';

/**
 * Reads a JSON body. Call it once the caller is authorized, because the body counts for the caller's budget. Throws 415 for
 * another content type and for a content encoding, 413 above `limit` bytes, 400 for a body that is empty or not JSON, and 422 for one that is nested too
 * deep.
 */
export async function readJson(c: Context, limit: number): Promise<unknown> {
  const value = await readOptionalJson(c, limit);
  if (value !== undefined) return value;
  throw badRequest('invalid-json', 'The body must be JSON, and is empty.');
}

/**
 * As {@link readJson}, for a body that may be left out: `undefined` for an empty one, whatever its content type, because some
 * clients declare an empty body as a form.
 */
export async function readOptionalJson(c: Context, limit: number): Promise<unknown> {
  if (isJson(c) && isIdentity(c)) {
    const text = await readText(c, limit);
    return text ? parseJson(text) : undefined;
  }
  if (await isEmpty(c)) return undefined;
  throw new ServiceError(
    415,
    'unsupported-media-type',
    'The body must be JSON, as it is, with "content-type: application/json".',
  );
}

function isJson(c: Context): boolean {
  const type = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || /^application\/[\w.+-]+\+json$/.test(type);
}

/** Whether the body is empty. Where its length is not declared it is read, but only up to its first byte. */
async function isEmpty(c: Context): Promise<boolean> {
  const declared = c.req.header('content-length');
  if (declared !== undefined) return Number(declared) === 0;
  try {
    for await (const chunk of c.req.raw.body ?? []) if (chunk.byteLength) return false;
  } catch {
    throw incompleteBody();
  }
  return true;
}

function parseJson(text: string): unknown {
  if (isDeeperThan(text, jsonDepth)) {
    throw new ServiceError(
      422,
      'too-deep',
      `The arrays and objects of the body may be nested ${jsonDepth} deep, and these are deeper.`,
      // The pointer to the body as a whole: that to the part would be very long.
      { path: '' },
    );
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badRequest('invalid-json', 'The body is not valid JSON.');
  }
}

/**
 * Reads a body of text in UTF-8. Clients send text with very different content types, JSON and forms included, or with none. So
 * 415 is thrown only for a type that is certainly not text, another charset, and a content encoding. An empty body is read as
 * an empty text, whatever its headers. Throws 413 with `overCode` above `limit` bytes, and 400 for what is not UTF-8.
 * @param anyType whether every content type is accepted (default false)
 */
export async function readPlainText(
  c: Context,
  limit: number,
  overCode?: CodeOf<413>,
  anyType = false,
): Promise<string> {
  if (isIdentity(c) && (anyType || isPlainText(c))) return readText(c, limit, overCode);
  if (await isEmpty(c)) return '';
  throw new ServiceError(
    415,
    'unsupported-media-type',
    'The body must be text in UTF-8, as it is, such as "content-type: text/plain; charset=utf-8".',
  );
}

function isIdentity(c: Context): boolean {
  return (c.req.header('content-encoding')?.trim().toLowerCase() || 'identity') === 'identity';
}

function isPlainText(c: Context): boolean {
  const [type = '', ...parameters] = (c.req.header('content-type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((one) => one.startsWith('charset='))?.slice('charset='.length);
  return (
    !/^(?:multipart|image|audio|video|font)\//.test(type) &&
    /^"?(?:utf-?8|us-ascii)"?$/.test(charset?.trim() ?? 'utf-8')
  );
}

/** How many bytes to reserve for a body. One that comes in chunks does not declare its length, and counts as the largest. */
function bodySize(c: Context, declared: number, limit: number): number {
  if (c.req.header('transfer-encoding') !== undefined) return limit;
  return declared <= limit ? declared : 0;
}

/** Reads a body as UTF-8 text. Throws 413 above `limit` bytes, 400 for what is not UTF-8. */
async function readText(c: Context, limit: number, overCode: CodeOf<413> = 'too-large'): Promise<string> {
  const tooLarge = () => new ServiceError(413, overCode, `The body is larger than ${limit} bytes.`);
  // NaN where the body comes in chunks; both comparisons below are then false.
  const declared = Number(c.req.header('content-length') ?? NaN);
  // Refused before any of it is read, so that the server can discard the body as a whole.
  if (declared > limit) throw tooLarge();
  reserveBody(c, bodySize(c, declared, limit));
  const chunks: Uint8Array[] = [];
  let length = 0;
  const add = (chunk: Uint8Array) => {
    length += chunk.byteLength;
    if (length > limit) throw tooLarge();
    chunks.push(chunk);
  };
  try {
    // A body of known length is read in one go: reading a stream costs more than everything else here.
    if (declared <= limit) add(new Uint8Array(await c.req.raw.arrayBuffer()));
    else for await (const chunk of c.req.raw.body ?? []) add(chunk);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw incompleteBody();
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw badRequest('invalid-text', 'The body is not valid UTF-8.');
  }
}

const incompleteBody = () => badRequest('incomplete-body', 'The body did not arrive whole.');
