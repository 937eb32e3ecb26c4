/** The longest URL of a plugin's request, in UTF-16 code units. */
export const longestUrl = 8192;

/**
 * Source of a function that runs in a fresh engine before any plugin, after the guest helpers. It keeps references to the globals
 * that it needs, because a plugin can change them. Everything that a pending call needs is in the engine's memory, so that a run
 * can be taken out of one engine and put into another. It returns these functions:
 *
 * - `connect()` defines `fetch`, `Response`, `setTimeout` and `clearTimeout`. Until `open()` was called they throw.
 * - `open()` is called between the top level and `run`.
 * - `hasPending()` returns whether a call or a timer has not ended.
 * - `respond(id, head, body)` gives a call its response; `head` is JSON, and `body` an `ArrayBuffer`.
 * - `reject(id, error)` ends a call with an error; `error` is JSON.
 * - `fire(id)` calls the function of a timer. It returns what \`describe\` has to report, in an array, where the function throws.
 */
export const guestCalls = `(call, startTimer, stopTimer) => {
  const { parse, stringify } = JSON;
  const { apply, ownKeys } = Reflect;
  const { encode } = TextEncoder.prototype;
  const { decode } = TextDecoder.prototype;
  const { forEach: eachHeader, has: hasHeader, set: setHeader } = Headers.prototype;
  const { get: mapGet, set: mapSet, delete: mapDelete, has: mapHas } = Map.prototype;
  const mapSize = Reflect.getOwnPropertyDescriptor(Map.prototype, 'size').get;
  const { toString: paramsText } = URLSearchParams.prototype;
  const { isPrototypeOf, toString: kindText } = Object.prototype;
  const { slice: sliceBuffer } = ArrayBuffer.prototype;
  const { toUpperCase } = String.prototype;
  const { isView } = ArrayBuffer;
  const { test } = RegExp.prototype;
  const [paramsPrototype, bufferPrototype] = [URLSearchParams.prototype, ArrayBuffer.prototype];
  const [TypeError, Bytes, Buffer, Decoder, Encoder, HeaderList, Waiting, SyntaxFault, RangeFault] =
    [globalThis.TypeError, Uint8Array, ArrayBuffer, TextDecoder, TextEncoder, Headers, Map, SyntaxError, RangeError];
  const Deferred = Promise;
  const text = String;
  const { defineProperty } = Object;
  const encoder = new Encoder();

  // As \`Infinity\` is no number of JSON. The run ends long before.
  const longestDelay = 2 ** 31 - 1;
  let isOpen = false;
  let lastId = 0;
  const calls = new Waiting();
  const timers = new Waiting();

  const outside = (name) => {
    throw new TypeError(name + ' works inside of "run" alone: call it there, and not at the top level of the plugin.');
  };
  const is = (prototype, value) => apply(isPrototypeOf, prototype, [value]);

  const bytesOf = (body) => {
    if (typeof body === 'string') return [apply(encode, encoder, [body]), 'text/plain;charset=UTF-8'];
    if (is(paramsPrototype, body))
      return [apply(encode, encoder, [apply(paramsText, body, [])]), 'application/x-www-form-urlencoded;charset=UTF-8'];
    if (is(bufferPrototype, body)) return [new Bytes(apply(sliceBuffer, body, [0]))];
    if (isView(body)) return [new Bytes(new Bytes(body.buffer, body.byteOffset, body.byteLength))];
    throw new TypeError('fetch: "body" must be text, URLSearchParams, an ArrayBuffer or a view of one.');
  };
  const listOf = (headers) => {
    const list = [];
    apply(eachHeader, headers, [(value, name) => { list[list.length] = [name, value]; }]);
    return list;
  };
  const upper = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH'];
  const token = /^[!#$%&'*+.^_\`|~0-9A-Za-z-]+$/;
  const methodOf = (given) => {
    const method = text(given);
    const normal = apply(toUpperCase, method, []);
    for (let i = 0; i < upper.length; i++) if (upper[i] === normal) return normal;
    if (!apply(test, token, [method])) throw new TypeError('fetch: "method" must be the name of a method, such as POST.');
    return method;
  };
  const optionsOf = (init) => {
    if (init === undefined || init === null) return {};
    if (typeof init !== 'object') throw new TypeError('fetch: the second argument must be an object with "method", "headers" and "body".');
    const keys = ownKeys(init);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (key === 'method' || key === 'headers' || key === 'body' || init[key] === undefined) continue;
      const why = key === 'signal' ? ' A call ends by itself when it takes too long.' : '';
      throw new TypeError('fetch: the option "' + text(key) + '" is not supported here; "method", "headers" and "body" are.' + why);
    }
    return init;
  };
  const requestOf = (input, init) => {
    const { method: givenMethod = 'GET', headers: givenHeaders, body: givenBody } = optionsOf(init);
    const url = typeof input === 'string' ? input : text(input);
    if (url.length > ${longestUrl}) throw new TypeError('fetch: the URL must have at most ${longestUrl} characters.');
    const method = methodOf(givenMethod);
    const headers = givenHeaders === undefined ? new HeaderList() : new HeaderList(givenHeaders);
    if (givenBody === undefined || givenBody === null) return { head: stringify([url, method, listOf(headers)]) };
    if (method === 'GET' || method === 'HEAD') throw new TypeError('fetch: a request of the method ' + method + ' has no body.');
    const [bytes, type] = bytesOf(givenBody);
    if (type !== undefined && !apply(hasHeader, headers, ['content-type'])) apply(setHeader, headers, ['content-type', type]);
    return { head: stringify([url, method, listOf(headers)]), bytes };
  };
  const failure = (message, code) => {
    const error = new TypeError(message);
    defineProperty(error, 'code', { value: code, writable: true, enumerable: true, configurable: true });
    return error;
  };

  const created = {};
  class Response {
    #status; #statusText; #url; #headers; #body; #isUsed = false;
    constructor(body = null, init = undefined) {
      const { status = 200, statusText = '', headers, url = '' } = init ?? {};
      const code = +status;
      if (!(init !== null && typeof init === 'object' && init.by === created) && !(code >= 200 && code <= 599))
        throw new RangeFault('Response: "status" must be from 200 to 599.');
      this.#status = code;
      this.#statusText = text(statusText);
      this.#url = init?.by === created ? url : '';
      this.#headers = headers === undefined ? new HeaderList() : new HeaderList(headers);
      if (body === null || body === undefined) { this.#body = new Bytes(); return; }
      if (init?.by === created) { this.#body = new Bytes(body); return; }
      const [bytes, type] = bytesOf(body);
      this.#body = bytes;
      if (type !== undefined && !apply(hasHeader, this.#headers, ['content-type'])) apply(setHeader, this.#headers, ['content-type', type]);
    }
    get ok() { return this.#status >= 200 && this.#status <= 299; }
    get status() { return this.#status; }
    get statusText() { return this.#statusText; }
    get url() { return this.#url; }
    get headers() { return this.#headers; }
    get redirected() { return false; }
    get bodyUsed() { return this.#isUsed; }
    #take() {
      if (this.#isUsed) throw new TypeError('The body of this response was read already.');
      this.#isUsed = true;
      const body = this.#body;
      this.#body = undefined;
      return body;
    }
    async text() { return apply(decode, new Decoder(), [this.#take()]); }
    async json() { return parse(apply(decode, new Decoder(), [this.#take()])); }
    async bytes() { return this.#take(); }
    async arrayBuffer() { return this.#take().buffer; }
  }
  defineProperty(Response.prototype, Symbol.toStringTag, { value: 'Response', configurable: true });

  const fetch = (input, init = undefined) => {
    if (!isOpen) outside('fetch');
    return new Deferred((resolve, reject) => {
      const { head, bytes } = requestOf(input, init);
      const id = ++lastId;
      if (!call(id, head, head.length, bytes)) {
        reject(failure('This run has made as many calls as a run may.', 'too-many-calls'));
        return;
      }
      apply(mapSet, calls, [id, { resolve, reject }]);
    });
  };
  const setTimeout = (callback, delay = 0, ...values) => {
    if (!isOpen) outside('setTimeout');
    if (typeof callback !== 'function') throw new TypeError('setTimeout: the first argument must be a function.');
    const id = ++lastId;
    const time = +delay;
    if (!startTimer(id, time > longestDelay ? longestDelay : time > 0 ? time : 0)) throw new RangeFault('setTimeout: this run has set as many timers as a run may.');
    apply(mapSet, timers, [id, { callback, values }]);
    return id;
  };
  const clearTimeout = (id = undefined) => {
    if (!isOpen) outside('clearTimeout');
    if (apply(mapDelete, timers, [id])) stopTimer(id);
  };
  const take = (map, id) => {
    const found = apply(mapGet, map, [id]);
    apply(mapDelete, map, [id]);
    return found;
  };
  const define = (name, value) => {
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
  };
  return {
    connect() {
      define('fetch', fetch);
      define('Response', Response);
      define('setTimeout', setTimeout);
      define('clearTimeout', clearTimeout);
    },
    open() { isOpen = true; },
    hasPending: () => apply(mapSize, calls, []) > 0 || apply(mapSize, timers, []) > 0,
    respond(id, head, body) {
      const found = take(calls, id);
      if (!found) return;
      const [status, statusText, url, headers] = parse(head);
      found.resolve(new Response(body, { by: created, status, statusText, url, headers }));
    },
    reject(id, error) {
      const [code, message] = parse(error);
      take(calls, id)?.reject(failure(message, code));
    },
    fire(id) {
      const found = take(timers, id);
      if (!found) return undefined;
      const { callback, values } = found;
      try { apply(callback, undefined, values); } catch (error) { return [error]; }
      return undefined;
    },
  };
}`;
