import { random } from './random.ts';

type Pick = <Value>(all: readonly Value[]) => Value;

/** JavaScript that uses what the sandbox adds to the language: the same for the same seed. */
export function expressions(seed: number, count: number): string[] {
  const writer = new Writer(random(seed));
  return Array.from({ length: count }, () => writer.expression());
}

const schemes = ['https:', 'http:', 'file:', 'ws:', 'data:', 'mailto:', 'javascript:', 'blob:', 'a+b-1:', ''];
const hosts = [
  'a.b',
  'xn--',
  'MÜNCHEN.de',
  '[::1]',
  '[1::2::3]',
  '0x7f.1',
  '1.2.3.4.5',
  '%00',
  'ex%41',
  '.',
  '',
];
const pathParts = [
  '..',
  '%2e%2E',
  '.',
  'C|',
  ' ',
  '%zz',
  '%',
  '😀',
  '\\',
  '',
  'a;b',
  '\ud800',
  '\t',
  '\u0000',
];
const labels = [
  'utf-8',
  'UTF-16',
  'utf-16be',
  'latin1',
  'windows-1252',
  'utf-7',
  '',
  ' utf8\n',
  'replacement',
];
const hashes = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'sha-256'];
const ciphers = ['AES-GCM', 'AES-CBC', 'AES-CTR'];
const usagesOf: Readonly<Record<string, readonly string[]>> = {
  HMAC: ['sign', 'verify'],
  'AES-GCM': ['encrypt', 'decrypt'],
  'AES-CBC': ['encrypt', 'decrypt'],
  'AES-CTR': ['encrypt', 'decrypt'],
  PBKDF2: ['deriveBits'],
  HKDF: ['deriveBits'],
};
const parts = 'href protocol username password host hostname port pathname search hash'.split(' ');
const locales = [
  'de',
  'en-US',
  'ar-EG-u-nu-arab',
  'th-u-ca-buddhist',
  'zh-u-ca-chinese',
  'ja',
  'x',
  '',
  'fa',
  'he',
];
const numbers =
  '0 -0 1 -1 2 7 16 255 65536 1e9 2**31 2**32 2**53 1e308 -1e308 5e-324 NaN Infinity -Infinity'.split(' ');

/** Functions of the language that the sandbox's own code may call before it enters the engine's extensions. */
const borrowed =
  `Uint8Array.prototype.slice Uint8Array.prototype.set Uint8Array.prototype.subarray Uint8Array.from
  ArrayBuffer.isView ArrayBuffer.prototype.transfer Object.prototype.toString Object.keys Object.entries Number.isInteger
  Array.prototype.includes Array.prototype.find Array.prototype.map Array.prototype.filter Array.prototype.push
  String.prototype.toWellFormed String.prototype.replaceAll String.prototype.includes String.prototype.slice
  String.prototype.toLowerCase String.prototype.toUpperCase String.prototype.trim WeakMap.prototype.get WeakSet.prototype.has
  Map.prototype.get JSON.parse JSON.stringify Reflect.ownKeys Array.prototype[Symbol.iterator] globalThis.Uint8Array
  globalThis.DOMException globalThis.String globalThis.Number globalThis.TypeError`
    .split(/\s+/)
    .filter((name) => name !== '');

/** Whether an expression changes the language while it is evaluated. */
export const isChanged = (expression: string): boolean => expression.startsWith('(() => { const kept = ');

class Writer {
  readonly #next: () => number;
  readonly #pick: Pick;

  constructor(next: () => number) {
    this.#next = next;
    this.#pick = (all) => all[Math.floor(next() * all.length)] as (typeof all)[number];
  }

  expression(): string {
    const written = this.#pick([
      () => this.#url(),
      () => this.#query(),
      () => this.#text(),
      () => this.#headers(),
      () => this.#clone(),
      () => this.#crypto(),
      () => this.#intl(),
    ])();
    // Now and then in a language that the plugin has changed, so that other values reach the extensions.
    return this.#isOneIn(6) ? this.#changed(written) : written;
  }

  #isOneIn(count: number): boolean {
    return this.#next() * count < 1;
  }

  #integer(below: number): number {
    return Math.floor(this.#next() * below);
  }

  #list<Value>(most: number, make: () => Value): Value[] {
    return Array.from({ length: this.#integer(most + 1) }, make);
  }

  #changed(written: string): string {
    const name = this.#pick(borrowed);
    return `(() => { const kept = ${name}; let times = 0;
      ${name} = function (...given) { return times++ < ${this.#integer(3)} ? Reflect.apply(kept, this, given) : ${this.#any()}; };
      try { return ${written}; } finally { ${name} = kept; } })()`;
  }

  /** Any value, mostly a wrong one. */
  #any(depth = 2): string {
    return this.#pick([
      () =>
        this.#pick([
          'undefined',
          'null',
          'true',
          '{}',
          '[]',
          'Symbol()',
          '12n',
          '() => 1',
          'globalThis',
          'new Date(NaN)',
        ]),
      () => this.#pick(numbers),
      () => this.#string(),
      () => this.#bytes(),
      () => (depth > 0 ? this.#value(depth) : '1'),
      () => `{ toString() { return ${this.#string()}; }, valueOf() { return ${this.#pick(numbers)}; } }`,
      () =>
        `new Proxy(${this.#pick(['{}', '[]', '() => 1'])}, { get: (_, name) => (${depth > 0 ? this.#any(depth - 1) : 'name'}) })`,
      () => '{ get length() { throw new EvalError(); }, get [Symbol.iterator]() { throw new EvalError(); } }',
    ])();
  }

  #plain(): string {
    return this.#pick([
      () => String.fromCharCode(...this.#list(12, () => this.#integer(this.#pick([128, 256, 65_536])))),
      () => this.#pick(pathParts),
      () =>
        this.#list(6, () => this.#pick([...pathParts, ...hosts])).join(
          this.#pick(['', '/', '.', '%', '&', '=']),
        ),
      () => this.#pick(['a', 'é', '😀', '\ud800', '%41', '\0']).repeat(this.#integer(3000)),
    ])();
  }

  #string(): string {
    return JSON.stringify(this.#plain());
  }

  #address(): string {
    if (this.#isOneIn(12)) return this.#any();
    const colon = this.#pick(['//', '/', '', '\\\\']);
    const user = this.#pick(['', '', 'u:p@', '@', ':@']);
    const port = this.#pick(['', '', ':80', ':99999', ':0x1', ':']);
    const path = this.#list(6, () => this.#pick(pathParts)).join('/');
    const rest = this.#pick(['', '?a=1&b', '#x', '?#', `?${this.#plain()}#${this.#plain()}`]);
    const whole = this.#pick(schemes) + colon + user + this.#pick(hosts) + port + '/' + path + rest;
    if (!this.#isOneIn(4)) return JSON.stringify(whole);
    // A part is left out, or is there twice.
    const [from, to] = [this.#integer(whole.length), this.#integer(whole.length)];
    return JSON.stringify(whole.slice(0, to) + whole.slice(from));
  }

  #url(): string {
    const changes = this.#list(5, () =>
      this.#pick([
        `url.${this.#pick(parts)} = ${this.#isOneIn(3) ? this.#any() : this.#string()};`,
        `url.searchParams.${this.#pick(['append', 'set'])}(${this.#string()}, ${this.#string()});`,
        `url.searchParams.sort();`,
      ]),
    );
    const base = this.#isOneIn(2) ? `, ${this.#address()}` : '';
    return `(() => { const url = new URL(${this.#address()}${base}); ${changes.join(' ')}
      return [url.origin, ...${JSON.stringify(parts)}.map((part) => url[part]), String(url.searchParams), URL.canParse(url.href)]; })()`;
  }

  #query(): string {
    const init = this.#pick([
      () => this.#string(),
      () => this.#any(),
      () => JSON.stringify(this.#list(5, () => [this.#plain(), this.#plain()])),
      () => `new URLSearchParams(${this.#string()})`,
      () => `new Map([[${this.#string()}, ${this.#any()}]])`,
    ])();
    const during = this.#pick(['all.append(name, value + 1)', 'all.delete(name)', 'all.sort()', '0']);
    return `(() => { const all = new URLSearchParams(${init}); let turns = 0;
      for (const [name, value] of all) { if (turns++ > 20) break; ${during}; }
      return [String(all), all.size, all.get(${this.#any()}), all.has(${this.#string()}, ${this.#any()})]; })()`;
  }

  #bytes(): string {
    const size = this.#pick([0, 1, 7, 15, 16, 17, 31, 64, 100, 1000]);
    const kind = this.#pick([
      'Uint8Array',
      'Int8Array',
      'Uint16Array',
      'Float64Array',
      'BigInt64Array',
      'DataView',
      'Uint8ClampedArray',
    ]);
    return this.#pick([
      () => `new Uint8Array(${JSON.stringify(this.#list(40, () => this.#integer(256)))})`,
      () => `new Uint8Array(${size}).fill(${this.#integer(256)})`,
      () => `new ArrayBuffer(${size})`,
      () => `new SharedArrayBuffer(${size})`,
      () => `new ${kind}(new ArrayBuffer(${8 * size + 8}), 8)`,
      () => `new Uint8Array(${size + 9}).subarray(3, ${size})`,
      // Taken away, and shrunk to less than the view begins with.
      () =>
        `(() => { const view = new ${kind}(new ArrayBuffer(${8 * size})); view.buffer.transfer(); return view; })()`,
      () =>
        `(() => { const all = new ArrayBuffer(64, { maxByteLength: 128 }), view = new ${kind}(all, ${this.#pick(['0', '8', '8, 2'])}); all.resize(${this.#integer(128)}); return view; })()`,
    ])();
  }

  #text(): string {
    const options = `{ fatal: ${this.#isOneIn(2)}, ignoreBOM: ${this.#isOneIn(2)} }`;
    const chunks = this.#list(
      4,
      () =>
        `text += decoder.decode(${this.#isOneIn(6) ? this.#any() : this.#bytes()}, { stream: ${this.#isOneIn(2)} });`,
    );
    return this.#pick([
      () =>
        `(() => { const decoder = new TextDecoder(${this.#isOneIn(8) ? this.#any() : JSON.stringify(this.#pick(labels))}, ${options}); let text = ''; ${chunks.join(' ')} return text + decoder.decode(); })()`,
      () => `new TextEncoder().encode(${this.#isOneIn(4) ? this.#any() : this.#string()}).length`,
      () =>
        `(() => { const target = ${this.#isOneIn(6) ? this.#any() : this.#bytes()}; return [new TextEncoder().encodeInto(${this.#string()}, target), String(target).length]; })()`,
      () =>
        `(() => { const all = new ArrayBuffer(8, { maxByteLength: 64 }), target = new Uint8Array(all); return new TextEncoder().encodeInto({ toString() { all.resize(${this.#integer(64)}); return ${this.#string()}; } }, target); })()`,
      () => `atob(${this.#string()}) + btoa(${this.#string()})`,
    ])();
  }

  #headers(): string {
    const valid = ['a', 'A', 'x-b', 'set-cookie', 'accept'];
    const name = () =>
      this.#isOneIn(5) ? this.#pick([this.#string(), this.#any()]) : JSON.stringify(this.#pick(valid));
    const change = () =>
      this.#pick([
        `all.append(${name()}, ${name()});`,
        `all.set(${name()}, ${this.#string()});`,
        `all.delete(${name()});`,
        `all.get(${name()});`,
      ]);
    // Each goes on where the one before it failed.
    const changes = this.#list(5, () => `try { ${change()} } catch {}`);
    const init = this.#pick([
      () => `[[${name()}, ${name()}], [${name()}, ${name()}]]`,
      () => `{ [${this.#string()}]: ${name()} }`,
      () => `new Headers({ a: 'b' })`,
      () => this.#any(),
    ])();
    const during = this.#pick(['all.delete(name)', 'all.append("z" + name, "1")', '0']);
    return `(() => { const all = new Headers(${init}); ${changes.join(' ')} let turns = 0;
      for (const [name] of all) { if (turns++ > 20) break; ${during}; }
      all.forEach((value, name) => { ${during}; });
      return [...all, all.getSetCookie()]; })()`;
  }

  /** A value to copy: nested, shared, in circles, or one that changes while it is read. */
  #value(depth: number): string {
    if (depth <= 0)
      return this.#pick([this.#pick(numbers), this.#string(), 'null', '-0', '5n', 'new Date(1e12)']);
    const inner = () => this.#value(depth - 1 - this.#integer(2));
    return this.#pick([
      () => `[${this.#list(4, inner).join()}]`,
      () => `[${inner()},,${inner()}]`,
      () => `{ a: ${inner()}, [${this.#string()}]: ${inner()} }`,
      () => `new Map([[${inner()}, ${inner()}]])`,
      () => `new Set([${inner()}, ${inner()}])`,
      () => this.#bytes(),
      () =>
        this.#pick([
          '/a(b)/gu',
          'new RangeError("x", { cause: 1 })',
          'Object(1n)',
          'Object("x")',
          'new AggregateError([1])',
          'new (class A { b = 1 })',
          'new Uint32Array([1, 2])',
          '(function () { return arguments; })(1, 2)',
          // None of these can be copied.
          this.#pick([
            'new WeakMap()',
            'Promise.resolve(1)',
            '(function* () {})()',
            'crypto',
            'new URL("a:b")',
          ]),
        ]),
      () =>
        `(() => { const one = ${this.#pick(['{}', '[]'])}; one.self = one; one.other = [one, one]; return one; })()`,
      () =>
        `(() => { const map = new Map([[1, 1]]); map.set(map, { get a() { map.clear(); return map; } }); return map; })()`,
      () =>
        `(() => { const set = new Set([1]); set.add({ get a() { for (let i = 0; i < 50; i++) set.add(i); return 1; } }); return set; })()`,
      () =>
        `(() => { const list = [{ get a() { list.length = ${this.#integer(4)}; return ${inner()}; } }, 1, 2, 3]; return list; })()`,
      () =>
        `(() => { const all = { get a() { delete all.b; all.c = 1; return ${inner()}; }, b: 1 }; return all; })()`,
      () =>
        `(() => { const all = new ArrayBuffer(16, { maxByteLength: 32 }); return [{ get a() { all.resize(${this.#integer(32)}); return 1; } }, new Uint8Array(all, 4), all]; })()`,
      () =>
        `new Proxy([1, 2, 3], { get: (all, name) => name === 'length' ? ${this.#pick(numbers)} > 100 ? 5 : 2 : all[name] })`,
    ])();
  }

  #clone(): string {
    const transfer = this.#pick([
      '',
      '',
      '',
      '',
      `, { transfer: [${this.#bytes()}] }`,
      `, { transfer: ${this.#any()} }`,
      ', { transfer: [value] }',
      ', { transfer: [value.buffer, value.buffer] }',
    ]);
    return `(() => { const value = ${this.#value(4)}; const copy = structuredClone(value${transfer}); return [Object.prototype.toString.call(copy), JSON.stringify(copy, (_, one) => typeof one === 'bigint' ? String(one) : one)]; })()`;
  }

  /** Mostly a key that may be used with `name`. */
  #key(name: string): string {
    const size = ciphers.includes(name) ? this.#pick([16, 24, 32]) : 1 + this.#integer(200);
    const bytes = this.#isOneIn(10) ? this.#any() : `new Uint8Array(${size}).fill(${this.#integer(256)})`;
    const algorithm = this.#isOneIn(12) ? this.#any() : `{ name: '${name}', hash: '${this.#hash()}' }`;
    const wanted = this.#isOneIn(12) ? this.#any() : JSON.stringify(usagesOf[name]);
    const [format, data] = this.#isOneIn(6)
      ? ['jwk', `{ kty: 'oct', k: ${this.#isOneIn(4) ? this.#any() : "'AQIDBAUGBwgJCgsMDQ4PEA'"} }`]
      : ['raw', bytes];
    const isExtractable = !name.startsWith('PB') && name !== 'HKDF' && this.#isOneIn(2);
    return `await crypto.subtle.importKey('${format}', ${data}, ${algorithm}, ${isExtractable}, ${wanted})`;
  }

  #hash(): string {
    return this.#pick(this.#isOneIn(10) ? ['MD5', ''] : hashes);
  }

  /** Mostly parameters that `name` takes. */
  #parameters(name: string): string {
    if (this.#isOneIn(12)) return this.#any();
    const bytes = (size: number) =>
      this.#isOneIn(8)
        ? this.#any()
        : this.#isOneIn(4)
          ? this.#bytes()
          : `new Uint8Array(${size}).fill(${this.#integer(256)})`;
    return this.#pick([
      () =>
        `{ name: '${name}', iv: ${bytes(16)}, counter: ${bytes(16)}, length: ${1 + this.#integer(128)}, hash: '${this.#hash()}', salt: ${bytes(9)}, info: ${bytes(5)}, iterations: ${1 + this.#integer(50)} }`,
      () =>
        `{ name: '${name}', iv: ${bytes(16)}, additionalData: ${bytes(20)}, tagLength: ${this.#pick(['128', '96', 'undefined'])}, counter: ${bytes(16)}, length: ${this.#pick(numbers)}, hash: '${this.#hash()}', salt: ${bytes(0)}, info: ${bytes(0)}, iterations: ${this.#pick(['1', '0', '-1', 'NaN'])} }`,
    ])();
  }

  #crypto(): string {
    const bytes = () => (this.#isOneIn(10) ? this.#any() : this.#bytes());
    const shown = (result: string) =>
      `(async () => { const all = new Uint8Array(${result}); return [all.length, ...all.subarray(0, 20)]; })()`;
    const [cipher, derivation] = [this.#pick(ciphers), this.#pick(['PBKDF2', 'HKDF'])];
    return this.#pick([
      () => shown(`await crypto.subtle.digest('${this.#hash()}', ${bytes()})`),
      () => shown(`await crypto.subtle.sign('HMAC', ${this.#key('HMAC')}, ${bytes()})`),
      () =>
        shown(
          `await crypto.subtle.${this.#pick(['encrypt', 'decrypt'])}(${this.#parameters(cipher)}, ${this.#key(cipher)}, ${bytes()})`,
        ),
      () =>
        `(async () => [await crypto.subtle.verify('HMAC', ${this.#key('HMAC')}, ${bytes()}, ${bytes()})])()`,
      () =>
        shown(
          `await crypto.subtle.deriveBits(${this.#parameters(derivation)}, ${this.#key(derivation)}, ${this.#pick(['8', '128', '512', ...numbers])})`,
        ),
      () =>
        `(async () => JSON.stringify(await crypto.subtle.exportKey('${this.#pick(['raw', 'jwk', 'spki'])}', ${this.#key(this.#pick(['HMAC', cipher]))})))()`,
      () => `(async () => { const key = ${this.#key(cipher)}, algorithm = ${this.#parameters(cipher)}, data = ${this.#bytes()};
        const back = await crypto.subtle.decrypt(algorithm, key, await crypto.subtle.encrypt(algorithm, key, data)); return back.byteLength; })()`,
      () => `crypto.getRandomValues(${this.#isOneIn(3) ? this.#any() : this.#bytes()}).length`,
      () =>
        `(async () => typeof await crypto.subtle.generateKey({ name: '${cipher}', length: ${this.#pick(['128', '256', ...numbers])} }, true, ['encrypt']))()`,
      () =>
        `(async () => typeof await crypto.subtle.generateKey({ name: 'HMAC', hash: '${this.#hash()}', length: ${this.#pick(['undefined', '800', ...numbers])} }, true, ['sign']))()`,
    ])();
  }

  #intl(): string {
    const [locale, value] = [
      this.#isOneIn(8) ? this.#any() : JSON.stringify(this.#pick(locales)),
      this.#isOneIn(4) ? this.#any() : this.#pick(numbers),
    ];
    const option = (...all: string[]) => (this.#isOneIn(12) ? this.#any() : JSON.stringify(this.#pick(all)));
    return this.#pick([
      () =>
        `new Intl.NumberFormat(${locale}, { style: ${option('decimal', 'percent', 'currency', 'unit')}, currency: ${option('EUR', 'JPY', 'x')}, unit: ${option('meter', 'mile-per-hour')}, notation: ${option('compact', 'scientific', 'standard')}, maximumFractionDigits: ${this.#pick(['0', '3', '100', '101'])} }).formatToParts(${value})`,
      () =>
        `new Intl.DateTimeFormat(${locale}, { dateStyle: ${option('full', 'short')}, timeStyle: ${option('long', 'medium')}, timeZone: ${option('UTC', 'Asia/Kolkata', '+01:00')}, calendar: ${option('hebrew', 'islamic', 'chinese', 'persian', 'japanese')} }).format(${this.#pick(['8.64e15', '-8.64e15', value])})`,
      () => `new Intl.DateTimeFormat(${locale}).formatRange(${value}, ${this.#pick(numbers)})`,
      () => `new Intl.RelativeTimeFormat(${locale}).format(${value}, ${option('day', 'years', 'x')})`,
      () =>
        `new Intl.ListFormat(${locale}).formatToParts(${this.#isOneIn(3) ? this.#any() : JSON.stringify(this.#list(5, () => this.#plain()))})`,
      () =>
        `[${this.#list(6, () => this.#string()).join()}].sort(new Intl.Collator(${locale}, { numeric: ${this.#isOneIn(2)} }).compare)`,
      () => `${this.#string()}.localeCompare(${this.#any()}, ${locale})`,
      () => `${this.#string()}.toLocaleUpperCase(${locale})`,
      () =>
        `new Intl.PluralRules(${locale}, { type: ${option('ordinal', 'cardinal')} }).selectRange(${value}, ${this.#pick(numbers)})`,
    ])();
  }
}
