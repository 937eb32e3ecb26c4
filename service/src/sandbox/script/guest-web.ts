/**
 * Source of a function that runs in a fresh engine before any plugin, and completes what the engine's extensions have in C: the
 * query of a URL, the labels of encodings, and what JavaScript can see of the classes.
 */
export const guestWeb = String.raw`() => {
  'use strict';
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const share = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const tag = (type, name) => defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
  const need = (given, count, what) => {
    if (given < count) throw new TypeError(what + ' takes ' + count + (count === 1 ? ' argument' : ' arguments') + ', and got ' + given + '.');
  };
  const wellFormed = (value) => String(value).toWellFormed();
  const shown = (text) => JSON.stringify(text.length > 100 ? text.slice(0, 100) + '…' : text);

  const encoder = new TextEncoder();
  const decoder = new globalThis.TextDecoder('utf-8', { ignoreBOM: true });
  const hexOf = (code) => code >= 48 && code <= 57 ? code - 48 : code >= 65 && code <= 70 ? code - 55 : code >= 97 && code <= 102 ? code - 87 : -1;
  const decodePart = (text) => {
    const spaced = text.replaceAll('+', ' ');
    if (!spaced.includes('%')) return spaced;
    const bytes = encoder.encode(spaced);
    let size = 0;
    for (let at = 0; at < bytes.length; at++, size++) {
      const high = bytes[at] === 37 && at + 2 < bytes.length ? hexOf(bytes[at + 1]) : -1;
      const low = high < 0 ? -1 : hexOf(bytes[at + 2]);
      bytes[size] = low < 0 ? bytes[at] : high * 16 + low;
      if (low >= 0) at += 2;
    }
    return decoder.decode(bytes.subarray(0, size));
  };
  const encodePart = (text) => encodeURIComponent(text).replace(/%20|[!'()~]/g, (found) =>
    found === '%20' ? '+' : '%' + found.charCodeAt(0).toString(16).toUpperCase());
  const parseQuery = (text) => {
    const list = [];
    for (const part of text.split('&')) {
      if (part === '') continue;
      const at = part.indexOf('=');
      list.push(at < 0 ? [decodePart(part), ''] : [decodePart(part.slice(0, at)), decodePart(part.slice(at + 1))]);
    }
    return list;
  };
  const isObject = (value) => typeof value === 'object' && value !== null || typeof value === 'function';
  const isList = (value) => isObject(value) && value[Symbol.iterator] !== undefined && value[Symbol.iterator] !== null;
  // A text is no list, though it can be iterated.
  const itemsOf = (value) => isObject(value) ? [...value] : [];
  const pairOf = (entry) => {
    const pair = itemsOf(entry);
    if (pair.length !== 2) throw new TypeError('Each entry of a query must be a pair of a name and a value.');
    return [wellFormed(pair[0]), wellFormed(pair[1])];
  };
  const listOf = (init) => {
    if (!isObject(init)) {
      const text = wellFormed(init);
      return parseQuery(text.startsWith('?') ? text.slice(1) : text);
    }
    const list = [];
    if (isList(init)) {
      for (const entry of init) list.push(pairOf(entry));
      return list;
    }
    const byName = new Map();
    for (const name of Reflect.ownKeys(init)) {
      if (!getOwnPropertyDescriptor(init, name)?.enumerable) continue;
      if (typeof name === 'symbol') throw new TypeError('A symbol cannot be the name of a parameter.');
      byName.set(wellFormed(name), wellFormed(init[name]));
    }
    return [...byName];
  };

  // Set by the static block of the class, which alone reaches the private fields.
  let connect, replace;
  class URLSearchParams {
    #list;
    #changed = () => {};
    static {
      connect = (params, changed) => { params.#changed = changed; };
      replace = (params, search) => { params.#list = parseQuery(search.slice(1)); };
    }
    constructor(init = '') { this.#list = listOf(init); }
    get size() { return this.#list.length; }
    append(name, value) {
      need(arguments.length, 2, 'URLSearchParams.append');
      this.#list.push([wellFormed(name), wellFormed(value)]);
      this.#changed();
    }
    delete(name, value) {
      need(arguments.length, 1, 'URLSearchParams.delete');
      const [key, wanted] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)];
      this.#list = this.#list.filter((pair) => pair[0] !== key || (wanted !== undefined && pair[1] !== wanted));
      this.#changed();
    }
    get(name) {
      need(arguments.length, 1, 'URLSearchParams.get');
      const key = wellFormed(name);
      return this.#list.find((pair) => pair[0] === key)?.[1] ?? null;
    }
    getAll(name) {
      need(arguments.length, 1, 'URLSearchParams.getAll');
      const key = wellFormed(name);
      return this.#list.filter((pair) => pair[0] === key).map((pair) => pair[1]);
    }
    has(name, value) {
      need(arguments.length, 1, 'URLSearchParams.has');
      const [key, wanted] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)];
      return this.#list.some((pair) => pair[0] === key && (wanted === undefined || pair[1] === wanted));
    }
    set(name, value) {
      need(arguments.length, 2, 'URLSearchParams.set');
      const [key, text] = [wellFormed(name), wellFormed(value)];
      const first = this.#list.find((pair) => pair[0] === key);
      if (first) {
        first[1] = text;
        this.#list = this.#list.filter((pair) => pair === first || pair[0] !== key);
      } else this.#list.push([key, text]);
      this.#changed();
    }
    sort() {
      this.#list.sort((one, other) => one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0);
      this.#changed();
    }
    forEach(callback, self) {
      if (typeof callback !== 'function') throw new TypeError('URLSearchParams.forEach takes a function.');
      for (const [name, value] of this) callback.call(self, value, name, this);
    }
    *entries() { for (let at = 0; at < this.#list.length; at++) yield [...this.#list[at]]; }
    *keys() { for (let at = 0; at < this.#list.length; at++) yield this.#list[at][0]; }
    *values() { for (let at = 0; at < this.#list.length; at++) yield this.#list[at][1]; }
    toString() {
      let text = '';
      for (const [name, value] of this.#list) text += (text ? '&' : '') + encodePart(name) + '=' + encodePart(value);
      return text;
    }
  }
  defineProperty(URLSearchParams.prototype, Symbol.iterator, { value: URLSearchParams.prototype.entries, writable: true, configurable: true });
  tag(URLSearchParams, 'URLSearchParams');

  const ParsedURL = globalThis.URL;
  const parse = (url, base) => {
    const text = wellFormed(url);
    try {
      return base === undefined ? new ParsedURL(text) : new ParsedURL(text, wellFormed(base));
    } catch {
      throw new TypeError('Invalid URL: ' + shown(text) + (base === undefined ? '' : ', with the base ' + shown(wellFormed(base))));
    }
  };
  class URL {
    #url;
    #params;
    constructor(url, base) {
      need(arguments.length, 1, 'URL');
      this.#url = parse(url, base);
    }
    static canParse(url, base) {
      need(arguments.length, 1, 'URL.canParse');
      return URL.parse(url, base) !== null;
    }
    static parse(url, base) {
      need(arguments.length, 1, 'URL.parse');
      const texts = base === undefined ? [wellFormed(url)] : [wellFormed(url), wellFormed(base)];
      try { return new URL(...texts); } catch { return null; }
    }
    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams(this.#url.search);
        connect(this.#params, () => { this.#url.search = this.#params.toString(); });
      }
      return this.#params;
    }
    toString() { return this.#url.href; }
    toJSON() { return this.#url.href; }
    static {
      for (const name of ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) {
        defineProperty(this.prototype, name, {
          get() { return this.#url[name]; },
          set(value) {
            if (name === 'href') this.#url = parse(value);
            else this.#url[name] = wellFormed(value);
            if (this.#params && (name === 'search' || name === 'href')) replace(this.#params, this.#url.search);
          },
          enumerable: true,
          configurable: true,
        });
      }
      defineProperty(this.prototype, 'origin', { get() { return this.#url.origin; }, enumerable: true, configurable: true });
    }
  }
  tag(URL, 'URL');

  const NativeDecoder = globalThis.TextDecoder;
  const labels = {
    'utf-8': ['utf-8', 'utf8', 'unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'x-unicode20utf8'],
    'utf-16le': ['utf-16le', 'utf-16', 'ucs-2', 'unicode', 'iso-10646-ucs-2', 'csunicode', 'unicodefeff'],
    'utf-16be': ['utf-16be', 'unicodefffe'],
    'windows-1252': ['windows-1252', 'latin1', 'l1', 'ascii', 'us-ascii', 'iso-8859-1', 'iso8859-1', 'iso88591', 'iso_8859-1',
      'iso_8859-1:1987', 'iso-ir-100', 'csisolatin1', 'cp1252', 'cp819', 'ibm819', 'x-cp1252', 'ansi_x3.4-1968'],
  };
  // What windows-1252 has where Latin-1 has control characters.
  const windows = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
  const bytesOf = (data, what) => {
    if (data === undefined) return new Uint8Array(0);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (Object.prototype.toString.call(data) === '[object ArrayBuffer]') return new Uint8Array(data);
    throw new TypeError(what + ' takes an ArrayBuffer or a typed array.');
  };
  class TextDecoder {
    #decoder;
    #encoding;
    #options;
    // The bytes of an unfinished character, which the next part of a stream continues.
    #rest = new Uint8Array(0);
    #isInStream = false;
    constructor(label = 'utf-8', options = {}) {
      const name = String(label).replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase();
      this.#encoding = Object.keys(labels).find((encoding) => labels[encoding].includes(name));
      if (this.#encoding === undefined)
        throw new RangeError('The encoding ' + shown(String(label)) + ' is not supported: use ' + Object.keys(labels).map(shown).join(', ') + '.');
      this.#options = { fatal: Boolean(options?.fatal), ignoreBOM: Boolean(options?.ignoreBOM) };
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#options.fatal; }
    get ignoreBOM() { return this.#options.ignoreBOM; }
    decode(data, options) {
      const bytes = bytesOf(data, 'TextDecoder.decode');
      if (this.#encoding === 'windows-1252') {
        let text = '';
        for (const byte of bytes) text += byte >= 128 && byte < 160 ? windows[byte - 128] : String.fromCharCode(byte);
        return text;
      }
      const isMore = Boolean(options?.stream);
      const all = this.#rest.length ? new Uint8Array(this.#rest.length + bytes.length) : bytes;
      if (all !== bytes) { all.set(this.#rest); all.set(bytes, this.#rest.length); }
      const size = isMore ? wholeCharacters(all, this.#encoding) : all.length;
      // A byte order mark is one at the beginning of the stream only.
      const ignoreBOM = this.#options.ignoreBOM || this.#isInStream;
      this.#isInStream = isMore && (this.#isInStream || size > 0);
      this.#rest = isMore ? all.slice(size) : new Uint8Array(0);
      this.#decoder = new NativeDecoder(this.#encoding, { fatal: this.#options.fatal, ignoreBOM });
      return this.#decoder.decode(all.subarray(0, size));
    }
  }
  // How many of the bytes are before a character that they end within.
  const wholeCharacters = (bytes, encoding) => {
    const { length } = bytes;
    if (encoding !== 'utf-8') {
      const even = length - length % 2;
      const last = even ? bytes[encoding === 'utf-16le' ? even - 1 : even - 2] : 0;
      return last >= 0xd8 && last < 0xdc ? even - 2 : even;
    }
    for (let back = 1; back <= 3 && back <= length; back++) {
      const byte = bytes[length - back];
      if (byte < 0x80) return length;
      if (byte < 0xc0) continue;
      const size = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
      const second = back > 1 ? bytes[length - back + 1] : 0x90;
      const isValid = !(byte === 0xe0 && second < 0xa0 || byte === 0xed && second > 0x9f || byte === 0xf0 && second < 0x90 || byte === 0xf4 && second > 0x8f)
        || back === 1;
      return size > back && isValid ? length - back : length;
    }
    return length;
  };
  tag(TextDecoder, 'TextDecoder');
  tag(globalThis.TextEncoder, 'TextEncoder');

  // The extension's reads only arrays. It takes any other iterable for an object without members.
  class Headers extends globalThis.Headers {
    constructor(init = undefined) {
      if (init === null) throw new TypeError('The headers must be an object or a list of pairs; null is neither.');
      super(isList(init) ? Array.from(init, itemsOf) : init);
    }
  }
  tag(Headers, 'Headers');

  for (const [name, value] of Object.entries({ URL, URLSearchParams, TextDecoder, Headers })) share(name, value);
}`;
