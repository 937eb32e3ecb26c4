import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { GrowingBytes } from '../growing-bytes.ts';
import { bindingsOf } from './bindings.ts';
import type { CodeOf } from './error-codes.ts';
import { badRequest, ServiceError } from './errors.ts';
import { jsonDepth, scanJson } from './json-scan.ts';
import type { JsonCounts } from './json-scan.ts';
import { requestInfo } from './request-info.ts';

/** Refuses a JSON body by what it holds, before objects are made of it. */
export type CheckCounts = (counts: JsonCounts) => Promise<void>;

/** A text of this length or more waits for the turn of its caller's environment, and is scanned, parsed and validated in steps. */
const longText = 32 * 1024;

/** The longest pause, in ms: the time that a step took on a busy machine is mostly that of others. */
const longestPause = 20;

/** Does a step with a text. After one with a long text it pauses as long as that took, so that others have half of the thread. */
async function step<T>(text: string, work: () => T): Promise<T> {
  if (text.length < longText) return work();
  const began = performance.now();
  try {
    return work();
  } finally {
    await sleep(Math.min(longestPause, performance.now() - began));
  }
}

interface JsonLimits {
  /** In bytes. */
  readonly limit: number;
  /**
   * Whether the body may be left out. An empty one is `undefined` whatever its content type, because some clients declare an empty
   * body as a form.
   */
  readonly isOptional: boolean;
  /** Gets the counts of a body before it is parsed. */
  readonly check: CheckCounts;
}

/**
 * Reads a JSON body, and what `validate` makes of its value. Call it once the caller is authorized, because the body counts for
 * the caller's shares. Throws 415 for another content type and for a content encoding, 413 above `limit` bytes, 400 for a body
 * that is empty or not JSON, and 422 for one that is nested too deep.
 */
export async function readJson<T>(
  c: Context,
  { limit, isOptional, check }: JsonLimits,
  validate: (value: unknown) => T,
): Promise<T | undefined> {
  const isReadable = isJson(c) && isIdentity(c);
  if (!isReadable && !(await isEmpty(c))) {
    throw new ServiceError(
      415,
      'unsupported-media-type',
      'The body must be JSON, as it is, with "content-type: application/json".',
    );
  }
  const text = isReadable ? await readText(c, limit) : '';
  if (text) {
    const value = await parseJson(text, check);
    return step(text, () => validate(value));
  }
  if (isOptional) return undefined;
  throw badRequest('invalid-json', 'The body must be JSON, and is empty.');
}

/** The content type of a request without its parameters, in lower case. */
export const mediaTypeOf = (c: Context): string =>
  c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';

function isJson(c: Context): boolean {
  const type = mediaTypeOf(c);
  return type === 'application/json' || /^application\/[\w.+-]+\+json$/.test(type);
}

/** Whether the body is empty. Where its length is not declared it is read, but only up to its first byte. */
async function isEmpty(c: Context): Promise<boolean> {
  const size = declaredSize(c);
  if (size !== undefined) return size === 0;
  const { isWhole, isTooLong } = await receiveBytes(c, new GrowingBytes(0));
  if (!isWhole && !isTooLong) throw incompleteBody();
  return isWhole === true;
}

/** Parses JSON; throws 400 where it is none, and 422 where it is nested too deep. */
export async function parseJson(text: string, check?: CheckCounts): Promise<unknown> {
  const counts = await scanJson(text);
  if (counts.isTooDeep) {
    throw new ServiceError(
      422,
      'too-deep',
      `The arrays and objects of the body may be nested ${jsonDepth} deep, and these are deeper.`,
      // The pointer to the body as a whole: that to the part would be very long.
      { path: '' },
    );
  }
  await check?.(counts);
  try {
    return await step(text, () => JSON.parse(text) as unknown);
  } catch {
    throw badRequest('invalid-json', 'The body is not valid JSON.');
  }
}

/**
 * Reads a body of text in UTF-8. Clients send text with very different content types, JSON and forms included, or with none. So
 * 415 is thrown only for a type that is certainly not text, another charset, and a content encoding. An empty body is read as
 * an empty text, whatever its headers. Throws 413 with `overCode` above `limit` bytes, and 400 for what is not UTF-8.
 * @param holdsJson whether it is JSON, by whatever content type, in which a byte order mark means nothing (default false)
 */
export async function readPlainText(
  c: Context,
  limit: number,
  overCode?: CodeOf<413>,
  holdsJson = false,
): Promise<string> {
  if (isIdentity(c) && (holdsJson || isPlainText(c)))
    return readText(c, limit, { overCode, ignoreBOM: !holdsJson });
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

/** Reads a body as UTF-8 text. `ignoreBOM`: whether a byte order mark stays in it. Throws 413 above `limit` bytes, 400 for what is not UTF-8. */
async function readText(
  c: Context,
  limit: number,
  {
    overCode = 'too-large',
    ignoreBOM = false,
  }: { overCode?: CodeOf<413> | undefined; ignoreBOM?: boolean } = {},
): Promise<string> {
  const tooLarge = () => new ServiceError(413, overCode, `The body is larger than ${limit} bytes.`);
  const size = declaredSize(c);
  if (size === 0) return '';
  // Refused before any of it is read, so that the server can discard the body as a whole.
  if (size !== undefined && size > limit) throw tooLarge();
  // A body of unknown length counts as the largest.
  requestInfo(c).held?.reserveBody(size ?? limit);
  const bytes = new GrowingBytes(limit, size);
  const { isWhole, isTooLong, isTooSlow } = await receiveBytes(c, bytes);
  if (isTooLong) throw tooLarge();
  if (isTooSlow) throw new ServiceError(408, 'request-timeout', 'The body arrived too slowly.');
  if (!isWhole) throw incompleteBody();
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes.taken);
  } catch {
    throw badRequest('invalid-text', 'The body is not valid UTF-8.');
  }
  await takeLongTurn(c, text);
  return text;
}

/** Waits until a text may be handled, if it is a long one. */
export async function takeLongTurn(c: Context, { length }: string): Promise<void> {
  if (length >= longText) await requestInfo(c).held?.takeLongTurn(length, () => c.req.raw.signal);
}

/** How many bytes the body has; `undefined` where that is not declared. */
function declaredSize(c: Context): number | undefined {
  const declared = c.req.header('content-length');
  if (declared !== undefined) return Number(declared);
  // By a connection, a body has either its length or the encoding.
  return bindingsOf(c).incoming && c.req.header('transfer-encoding') === undefined ? 0 : undefined;
}

/** How the receiving of a body ended. */
interface Received {
  readonly isWhole?: boolean;
  readonly isTooLong?: boolean;
  readonly isTooSlow?: boolean;
}

function receiveBytes(c: Context, bytes: GrowingBytes): Promise<Received> {
  const { incoming, pace } = bindingsOf(c);
  if (!incoming) return readStream(c.req.raw.body, bytes);
  if (incoming.readableEnded) return Promise.resolve({ isWhole: true });
  if (incoming.destroyed) return Promise.resolve({});
  return new Promise((resolve) => {
    const settle = (received: Received) => {
      incoming.off('data', add).off('end', end).off('error', fail).off('close', fail);
      unwatch?.();
      resolve(received);
    };
    const end = () => settle({ isWhole: true });
    const fail = () => settle({});
    const add = (chunk: Buffer) => {
      transfer.moved += chunk.byteLength;
      if (bytes.add(chunk)) return;
      incoming.pause();
      settle({ isTooLong: true });
    };
    const transfer = { moved: 0, end: () => settle({ isTooSlow: true }) };
    const unwatch = incoming.complete ? undefined : pace?.watch(transfer);
    incoming.on('data', add).on('end', end).on('error', fail).on('close', fail);
  });
}

/** Reads a body that did not come by a connection. */
async function readStream(stream: ReadableStream<Uint8Array> | null, bytes: GrowingBytes): Promise<Received> {
  try {
    for await (const chunk of stream ?? []) if (!bytes.add(chunk)) return { isTooLong: true };
    return { isWhole: true };
  } catch {
    return {};
  }
}

const incompleteBody = () => badRequest('incomplete-body', 'The body did not arrive whole.');
