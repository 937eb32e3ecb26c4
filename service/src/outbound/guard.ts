import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import { callbackify } from 'node:util';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, request as send } from 'undici';
import type { Dispatcher } from 'undici';
import { firstSize, GrowingBytes } from '../growing-bytes.ts';
import type { QueueOwner } from '../processes/fair-queue.ts';
import type { HoldBytes } from '../sandbox/run-calls.ts';
import { isPublicAddress } from './addresses.ts';
import { CallError } from './call-error.ts';
import { isForbiddenHeader, isHeaderName, isHeaderValue, isKeptFromResponse } from './headers.ts';
import { Lookups } from './lookups.ts';
import type { Resolve } from './lookups.ts';

export interface GuardOptions {
  /** Whether requests are made at all (default true). */
  readonly isOn?: boolean;
  /**
   * The origins that may be `http`, single labels, IP literals, private or this service's, such as `http://localhost:5173`. Read at
   * every request.
   */
  readonly allow?: readonly string[];
  /** The values of `Host` that are this service's own. Read at every request. */
  readonly hosts?: readonly string[];
  /** Finds the addresses of a name (default: the system does). */
  readonly resolve?: Resolve | undefined;
  /** Certificates of authorities, in PEM, besides those of Node; for tests. */
  readonly ca?: string | undefined;
}

export interface GuardedRequest {
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | undefined;
  /** Whose request it is. Owners share no connection, and take turns where names are looked up. */
  readonly owner: QueueOwner;
  readonly signal?: AbortSignal | undefined;
  /** How long all of it may take, in ms. */
  readonly timeout: number;
  /** How long the body of the response may be once it is decompressed, in bytes; 0 for a response whose body is not read. */
  readonly maxBytes: number;
  /** Counts bytes of the body while it arrives, until the returned function is called. Throws where they are too many. */
  readonly hold?: HoldBytes | undefined;
}

export interface GuardedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Decompressed. */
  readonly body: Uint8Array;
}

/** How long the headers of a request may be together, and those of a response, in bytes. */
const [maxRequestHeaders, maxResponseHeaders] = [32 * 1024, 16 * 1024];

/** How many owners' connections are kept for their next request. */
const maxOwners = 500;

/** Whether a name has a domain, and the DNS could hold it. */
const isDomainName = (name: string) => name.length <= 253 && /^(?:[\w-]{1,63}\.)+[\w-]{1,63}$/.test(name);

/**
 * Makes requests only to machines of the public network. A name is looked up once, each of its addresses is checked, and the
 * connection goes to one that was checked. No redirect is followed, no proxy is used, and no cookie is kept.
 */
export class Guard {
  /** Whether requests are made at all. */
  readonly isOn: boolean;
  readonly #allow: readonly string[];
  readonly #hosts: readonly string[];
  readonly #lookups: Lookups;
  readonly #ca: string | undefined;
  /** The connections of each owner. */
  readonly #agents = new LRUCache<string, Agent>({
    max: maxOwners,
    dispose: (agent) => void agent.close().catch(() => {}),
  });

  constructor({ isOn = true, allow = [], hosts = [], resolve, ca }: GuardOptions = {}) {
    this.isOn = isOn;
    this.#allow = allow;
    this.#hosts = hosts;
    this.#lookups = new Lookups(resolve);
    this.#ca = ca;
  }

  /**
   * Why an origin could never be reached, as words that follow "it"; `undefined` for one that may be. It does not look names up.
   */
  refusal(origin: string): string | undefined {
    if (this.#allow.includes(origin)) return undefined;
    const { protocol, hostname, host, port } = new URL(origin);
    if (protocol !== 'https:') return 'must be https, unless the operator lists it in OUTBOUND_ALLOW';
    if (isIP(unbracketed(hostname)))
      return 'must be a name and no address, unless the operator lists it in OUTBOUND_ALLOW';
    if (!isDomainName(hostname))
      return 'must be a full domain name, such as api.example.com, with labels of at most 63 characters, unless the operator lists it in OUTBOUND_ALLOW';
    const own = [host, `${hostname}:${port || '443'}`];
    if (this.#hosts.some((one) => own.includes(one)))
      return 'must not be this service, unless the operator lists it in OUTBOUND_ALLOW';
    return undefined;
  }

  /** Makes a request. Rejects with a {@link CallError}, or with the reason of its signal. */
  async request(url: URL, options: GuardedRequest): Promise<GuardedResponse> {
    if (!this.isOn)
      throw new CallError('address-refused', 'This service makes no requests, because OUTBOUND is off.');
    const refusal = this.refusal(url.origin);
    if (refusal) throw new CallError('address-refused', `${url.host} may not be reached: it ${refusal}.`);
    const headers = toHeaders(options.headers);
    const ended = AbortSignal.timeout(options.timeout);
    const signal = options.signal ? AbortSignal.any([ended, options.signal]) : ended;
    try {
      signal.throwIfAborted();
      const response = await send(url, {
        dispatcher: this.#agent(options.owner),
        method: options.method,
        headers,
        ...(options.body && { body: options.body }),
        responseHeaders: 'raw',
        signal,
      });
      return await readResponse(response, url, options);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (ended.aborted)
        throw new CallError('call-timeout', `${url.host} did not respond within ${options.timeout} ms.`);
      throw toCallError(error, url);
    }
  }

  /** Closes all connections. Requests that have not ended fail. */
  async close(): Promise<void> {
    const agents = [...this.#agents.values()];
    await Promise.all(agents.map((agent) => agent.destroy()));
    this.#agents.clear();
  }

  #agent(owner: QueueOwner): Agent {
    const key = JSON.stringify([owner.environment, owner.tenant]);
    let agent = this.#agents.get(key);
    if (!agent) this.#agents.set(key, (agent = this.#createAgent(owner)));
    return agent;
  }

  #createAgent(owner: QueueOwner): Agent {
    const connect = (isListed: boolean) =>
      buildConnector({
        lookup: this.#lookup(owner, isListed),
        // HTTP/2 would share a connection between requests of different runs.
        allowH2: false,
        // The signal of each request bounds its time.
        timeout: 0,
        ...(this.#ca !== undefined && { ca: this.#ca }),
      });
    const [guarded, listed] = [connect(false), connect(true)];
    return new Agent({
      connect: (target, callback) => {
        const { protocol, host } = target;
        if (this.#allow.includes(new URL(`${protocol}//${host ?? ''}`).origin))
          return listed(target, callback);
        const literal = unbracketed(target.hostname);
        // A literal address is never looked up.
        if (isIP(literal) && !isPublicAddress(literal)) return callback(notPublic(target.hostname), null);
        return guarded(target, callback);
      },
      pipelining: 1,
      maxHeaderSize: maxResponseHeaders,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** A look-up whose addresses have all been checked, so that no other one is connected to. */
  #lookup(owner: QueueOwner, isListed: boolean): LookupFunction {
    const find = async (hostname: string) => {
      const addresses = await this.#lookups.addresses(hostname, owner);
      // A name that has one private address among public ones is refused, too.
      if (!isListed && !addresses.every(isPublicAddress)) throw notPublic(hostname);
      return addresses.map((address) => ({ address, family: isIP(address) }));
    };
    const findByCallback = callbackify(find);
    return (hostname, { all }, callback) =>
      findByCallback(hostname, (error, found) => {
        const [first] = found ?? [];
        if (error || !first) callback(error, []);
        else if (all) callback(null, found);
        else callback(null, first.address, first.family);
      });
  }
}

const unbracketed = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

const notPublic = (hostname: string) =>
  new CallError(
    'address-refused',
    `${hostname} may not be reached: it leads to an address that is not public.`,
  );

/** The headers as `undici` takes them. Throws for one that must not be sent. */
function toHeaders(headers: GuardedRequest['headers']): string[] {
  let size = 0;
  for (const [name, value] of headers) {
    if (!isHeaderName(name)) throw new CallError('not-granted', 'A header has a name that is none.');
    if (isForbiddenHeader(name)) throw new CallError('not-granted', `The header ${name} cannot be set.`);
    if (!isHeaderValue(value))
      throw new CallError('not-granted', `The header ${name} has a value that no header can have.`);
    size += name.length + value.length + 4;
  }
  if (size > maxRequestHeaders)
    throw new CallError('not-granted', `The headers have more than ${maxRequestHeaders} bytes together.`);
  const own = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding');
  // A part of a compressed body cannot be decompressed, so none is asked for, as the Fetch standard says.
  const hasRange = headers.some(([name]) => name.toLowerCase() === 'range');
  return [...own.flat(), 'accept-encoding', hasRange ? 'identity' : 'gzip, br'];
}

async function readResponse(
  { statusCode, statusText, headers: raw, body }: Dispatcher.ResponseData,
  url: URL,
  { method, maxBytes, hold }: GuardedRequest,
): Promise<GuardedResponse> {
  const headers = toPairs(raw as unknown as readonly string[]);
  const find = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
  const declared = Number(find('content-length') ?? NaN);
  const hasBody = method !== 'HEAD' && statusCode !== 204 && statusCode !== 304 && declared !== 0;
  const encoding = hasBody ? listOf(headers, 'content-encoding').trim().toLowerCase() : '';
  try {
    if (maxBytes === 0) {
      // The connection ends with it, so that a receiver cannot keep it busy.
      body.on('error', () => {}).destroy();
      return { status: statusCode, statusText, headers: [], body: new Uint8Array() };
    }
    if (hasBody && declared > maxBytes + (encoding ? encodingOverhead : 0)) throw tooLong(url, maxBytes);
    const read = await readBody(body, { encoding, declared }, url, { maxBytes, hold });
    return {
      status: statusCode,
      statusText: statusText,
      headers: headers.filter(
        ([name]) => isKeptFromResponse(name) && !(encoding && /^content-(?:encoding|length)$/i.test(name)),
      ),
      body: read,
    };
  } catch (error) {
    body.on('error', () => {}).destroy();
    throw error;
  }
}

/** All values of a header, which may be in several lines. */
const listOf = (headers: GuardedResponse['headers'], name: string): string =>
  headers
    .filter(([key]) => key.toLowerCase() === name)
    .map(([, value]) => value)
    .join(', ');

function toPairs(raw: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] ?? '', raw[i + 1] ?? '']);
  return pairs;
}

const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** How many chunks of a body may be shorter than this, in bytes, on average: each costs as much time as a longer one. */
const [smallChunks, shortChunk] = [2000, 64];

/** What an encoding adds to a body that it cannot compress is less than this, in bytes. */
const encodingOverhead = 64 * 1024;

/**
 * Reads a body, without its content encoding.
 * @param of.declared how long the headers say that it is, in bytes; else `NaN`
 */
async function readBody(
  body: Readable,
  { encoding, declared }: { readonly encoding: string; readonly declared: number },
  url: URL,
  { maxBytes, hold }: Pick<GuardedRequest, 'maxBytes' | 'hold'>,
): Promise<Uint8Array> {
  const decoder = decoderOf(encoding, url);
  // No more than by default for a long one, which may never come.
  const bytes = new GrowingBytes(maxBytes, decoder || !(declared < firstSize) ? undefined : declared);
  let release = hold?.(bytes.space);
  const add = (chunk: Buffer) => {
    const { space } = bytes;
    if (!bytes.add(chunk)) throw tooLong(url, maxBytes);
    if (bytes.space === space) return;
    release?.();
    release = hold?.(bytes.space);
  };
  let [size, chunks] = [0, 0];
  const count = (chunk: Buffer) => {
    size += chunk.length;
    chunks += 1;
    if (size > maxBytes + encodingOverhead) throw tooLong(url, maxBytes);
    if ((chunks - smallChunks) * shortChunk > size)
      throw new CallError('response-limit', `The response of ${url.host} comes in too many short chunks.`);
    if (!decoder) add(chunk);
  };
  try {
    await (decoder ? readDecoded(body, decoder, count, add) : readChunks(body, count));
    // Without the space that is left.
    return new Uint8Array(bytes.taken);
  } finally {
    release?.();
  }
}

/** Of several encodings, each could multiply what the one before gives, so one is taken. */
function decoderOf(encoding: string, url: URL): Transform | undefined {
  if (encoding === '' || encoding === 'identity') return undefined;
  if (Object.hasOwn(decoders, encoding)) return decoders[encoding as keyof typeof decoders]();
  throw new CallError('unreachable', `${url.host} responded with an encoding that was not asked for.`);
}

async function readDecoded(
  body: Readable,
  decoder: Transform,
  count: (chunk: Buffer) => void,
  add: (chunk: Buffer) => void,
): Promise<void> {
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      try {
        count(chunk);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  try {
    // Errors reach whoever reads the last of them.
    await readChunks(
      pipeline(body, counted, decoder, () => {}),
      add,
    );
  } finally {
    // Otherwise it would go on with what it holds, which may become gigabytes.
    decoder.destroy();
  }
}

/** Hands on each chunk as it came. A loop over the stream would join some of them, and a pipeline costs more than the response. */
function readChunks(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      stream.off('data', receive);
      reject(error);
    };
    const receive = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    stream
      .on('data', receive)
      .once('end', resolve)
      .on('error', fail)
      .once('close', () => fail(new Error('The body has broken off.')));
  });
}

const tooLong = (url: URL, maxBytes: number) =>
  new CallError('response-limit', `The response of ${url.host} is larger than ${maxBytes} bytes.`);

/** What went wrong, in words that hold nothing of the network behind the host. */
function toCallError(error: unknown, url: URL): CallError {
  if (error instanceof CallError) return error;
  const { code, name, cause } = error as NodeJS.ErrnoException;
  if (cause instanceof CallError) return cause;
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new CallError(
      'response-limit',
      `The headers of ${url.host} are larger than ${maxResponseHeaders} bytes.`,
    );
  // The errors of undici's parser have no code.
  return new CallError('unreachable', `${url.host} could not be reached: ${reasonOf(code ?? name)}.`, {
    cause: error,
  });
}

function reasonOf(code: string): string {
  if (/^(?:ERR_TLS|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ERR_SSL|EPROTO|HOSTNAME)/.test(code))
    return 'its certificate, or its TLS, cannot be trusted';
  if (/^HTTPParserError$|^HPE_|^UND_ERR_RES/.test(code)) return 'its response is not HTTP, or not whole';
  if (/^Z_|^ERR__?(?:ERROR|BROTLI)|^ERR_BROTLI/.test(code)) return 'its response cannot be decompressed';
  if (code === 'ECONNREFUSED') return 'it refuses connections';
  if (/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) return 'it closed the connection';
  return 'there is no connection to it';
}
