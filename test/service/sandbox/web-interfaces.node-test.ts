import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSameAsNode, inSandbox } from './sandbox-expressions.ts';

const urls = [
  'https://user:pa%20ss@example.com:8080/a/./b/../c?x=1&y=é#frag ment',
  'HTTP://EXAMPLE.com:80/%7Efoo/../a b',
  '//host/path',
  '/root?q',
  '../up/./x',
  '?only=query',
  '#hash',
  '',
  ' https://trim.example/ ',
  'https://[::1]:3000/',
  'https://[1::g]/',
  'https://192.168.257/',
  'https://0x7f.1/',
  'https://example.com:99999/',
  'https://exa mple.com/',
  'https://ex%41mple.com/',
  'https://münchen.de/ü',
  'data:text/plain,hello world',
  'mailto:a@b.c',
  'file:///C|/x/../y',
  'javascript:alert(1)',
  'blob:https://example.com/1-2',
  'ws://host:80/',
  'notascheme',
  'https:\\\\back\\slash',
  'https://a/\t\nb',
  'https://a/%zz%F0%9F%98%80😀\ud800',
];
const bases = [undefined, 'https://base.example/dir/file?q#h', 'file:///dir/x', 'mailto:x@y', 'no base'];
const parts = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
];

test('URLs are read and resolved as in Node', () =>
  assertSameAsNode(
    urls.flatMap((url) =>
      bases.flatMap((base) => {
        const values = [url, base].filter((one) => one !== undefined).map((one) => JSON.stringify(one));
        return [
          `(() => { const url = new URL(${values.join()}); return [url.origin, ...${JSON.stringify(parts)}.map((part) => url[part]), [...url.searchParams]]; })()`,
          `[URL.canParse(${values.join()}), URL.parse(${values.join()})?.href ?? null]`,
        ];
      }),
    ),
  ));

test('parts of a URL are set as in Node', () =>
  assertSameAsNode(
    ['https://user@example.com:81/a?b=c#d', 'mailto:a@b', 'file:///x'].flatMap((url) =>
      parts.flatMap((part) =>
        ['', 'x', 'ftp', '?q=1 2', '#é', '8o', 'a.b:9', '/p a', 'https://other/?n=1'].map(
          (value) =>
            `(() => { const url = new URL('${url}'), all = url.searchParams; url.${part} = ${JSON.stringify(value)}; return [url.href, [...all]]; })()`,
        ),
      ),
    ),
  ));

test('queries are as in Node', () =>
  assertSameAsNode([
    ...[
      '',
      '?a=b',
      '??a',
      'a=1&a=2&b',
      '&&=x&y=',
      'a+b=%20%zz%41%e2%82%ac%ff',
      'é=😀',
      'a=b=c',
      { a: 1, b: null },
      [['x', 'y']],
      [['x']],
      [1],
    ].flatMap((init) => {
      const made = `new URLSearchParams(${JSON.stringify(init)})`;
      return [
        `[...${made}]`,
        `String(${made})`,
        `${made}.size`,
        `(() => { const all = ${made}; all.sort(); return [...all.keys()]; })()`,
      ];
    }),
    'String(new URLSearchParams({ a: "!\'()~*-._ +%&=é\\ud800" }))',
    'String(new URLSearchParams(new Map([["a", 1]])))',
    'String(new URLSearchParams(new URLSearchParams("a=1&b=2")))',
    '(() => { const url = new URL("https://a/?x=1&y=2&x=3"), all = url.searchParams; all.set("x", "é"); all.append("z", "1"); all.delete("y"); return [url.href, all.get("x"), all.getAll("x"), all.has("z", "1"), all.has("z", "2"), all.get("none")]; })()',
    '(() => { const url = new URL("https://a/?x=1"); url.searchParams.delete("x"); return url.href; })()',
    '(() => { const seen = []; new URLSearchParams("a=1&b=2").forEach((value, name) => seen.push(name + value)); return seen; })()',
    'new URLSearchParams().get()',
    'new URLSearchParams({ [Symbol.iterator]: 1 })',
    'Object.prototype.toString.call(new URLSearchParams()) + Object.prototype.toString.call(new URL("a:b"))',
    'JSON.stringify({ url: new URL("https://a") })',
    'URL("https://a")',
    'new URL()',
    'new URL("https://a").searchParams === 1',
    'URL.prototype.href',
  ]));

const byteLists = [
  [],
  [0x61, 0xe2, 0x82, 0xac],
  [0xef, 0xbb, 0xbf, 0x61],
  [0xff, 0xfe, 0x61, 0x00],
  [0xc0, 0x80, 0xe2, 0x82],
  [0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0x80],
  [0x80, 0x9f, 0xe9, 0x81],
  [0x3d, 0xd8, 0x00, 0xde, 0x3d, 0xd8],
];

test('text is read from bytes and written as bytes as in Node', () =>
  assertSameAsNode([
    ...byteLists.flatMap((bytes) =>
      ['utf-8', 'UTF8', ' utf-16le ', 'utf-16be', 'windows-1252', 'latin1'].flatMap((label) =>
        ['{}', '{ fatal: true }', '{ ignoreBOM: true }'].map(
          (options) =>
            `new TextDecoder('${label}', ${options}).decode(new Uint8Array(${JSON.stringify(bytes)}))`,
        ),
      ),
    ),
    // In parts of each length.
    ...byteLists.flatMap((bytes) =>
      ['utf-8', 'utf-16le'].flatMap((label) =>
        [1, 2, 3].map(
          (size) => `(() => {
            const bytes = ${JSON.stringify(bytes)}, decoder = new TextDecoder('${label}');
            let text = '';
            for (let at = 0; at < bytes.length; at += ${size}) text += decoder.decode(new Uint8Array(bytes.slice(at, at + ${size})), { stream: true });
            return text + decoder.decode();
          })()`,
        ),
      ),
    ),
    'new TextDecoder("utf-7")',
    'new TextDecoder(" utf-8\\n").encoding',
    'new TextDecoder("\\u00a0utf-8")',
    'new TextDecoder().decode("text")',
    'new TextDecoder().decode(new Uint8Array([97]).buffer) + new TextDecoder().decode(new DataView(new ArrayBuffer(1))) + new TextDecoder().encoding',
    '[...new TextEncoder().encode("aé€😀\\ud800")]',
    '[...new TextEncoder().encode()]',
    '(() => { const target = new Uint8Array(4); return [new TextEncoder().encodeInto("é€a", target), ...target]; })()',
  ]));

test('headers are as in Node', () =>
  assertSameAsNode([
    '[...new Headers({ b: "2", A: "1" })]',
    '[...new Headers([["x", "1"], ["X", "2"], ["set-cookie", "a"], ["set-cookie", "b"]])]',
    'new Headers([["set-cookie", "a"], ["set-cookie", "b"]]).getSetCookie()',
    '[...new Headers(new Headers({ a: "1" })).entries()]',
    '[...new Headers(new Map([["a", "1"], ["B", "2"]]))]',
    '[...new Headers(new URLSearchParams("a=1&a=2"))]',
    '[...new Headers((function* () { yield new Set(["a", "1"]); })())]',
    '[...new Headers([new Set(["a", "1"])])]',
    '(() => { const all = []; all[Symbol.iterator] = function* () { yield ["a", "1"]; }; return [...new Headers(all)]; })()',
    'new Headers(new Set(["ab"]))',
    'new Headers(["ab"])',
    'new Headers(null)',
    'new Headers(new Map([["a b", "1"]]))',
    '(() => { class Mine extends Headers {} const all = new Mine({ a: "1" }); return [all instanceof Mine, all instanceof Headers, all.get("a"), Headers.name, Headers.length]; })()',
    'Headers()',
    '(() => { const all = new Headers({ a: " 1 " }); all.append("A", "2"); all.set("b", "3"); all.delete("c"); return [all.get("a"), all.has("B"), all.get("c"), ...all.keys(), ...all.values()]; })()',
    '(() => { const seen = []; new Headers({ a: "1" }).forEach((value, name) => seen.push(name + value)); return seen; })()',
    'new Headers({ "a b": "1" })',
    'new Headers({ a: "x\\ny" })',
    'new Headers([["a"]])',
    'new Headers({ "": "1" })',
    'Object.prototype.toString.call(new Headers())',
  ]));

test('copies of values are as in Node', () =>
  assertSameAsNode([
    ...[
      '{ a: [1, undefined, null, -0], b: "é" }',
      '1n === structuredClone(1n)',
      '[new Date(0), new Date(NaN)]',
      '/a/gi.flags',
      'Object.prototype.toString.call(structuredClone(/a/g))',
      '[...structuredClone(new Map([[{ k: 1 }, new Set([1, "2"])]]))].map(([key, value]) => [key, [...value]])',
      '(() => { const o = {}; o.self = o; const copy = structuredClone(o); return copy !== o && copy.self === copy; })()',
      '(() => { const shared = {}, copy = structuredClone([shared, shared]); return copy[0] === copy[1]; })()',
      'structuredClone(new TypeError("bad")).message + structuredClone(new TypeError("bad")).name',
      '[...structuredClone(new Uint16Array([1, 2]))]',
      '(() => { class Mine { a = 1 } return structuredClone(new Mine()) instanceof Mine; })()',
      '(() => { const b = new ArrayBuffer(8), copy = structuredClone({ b }, { transfer: [b] }); return [b.byteLength, copy.b.byteLength]; })()',
      '(() => { const b = new ArrayBuffer(8); b.transfer(); return structuredClone(1, { transfer: [b] }); })()',
      'structuredClone(1, { transfer: [{}] })',
      '(() => { const b = new ArrayBuffer(8); return structuredClone(b, { transfer: [b, b] }); })()',
      '(() => { const copy = structuredClone([1, , 3, ,]); return [copy.length, 1 in copy, ...copy]; })()',
      '(() => { const list = Object.assign([1], { a: { b: 2 } }); return Object.entries(structuredClone(list)); })()',
      ...['true', '-0', '"a\\ud800"', '5n'].map(
        (value) =>
          `(() => { const copy = structuredClone(Object(${value})); return [typeof copy, Object.prototype.toString.call(copy), Object.is(copy.valueOf(), ${value})]; })()`,
      ),
      '(() => { const copy = structuredClone(JSON.parse(`{ "__proto__": { "a": 1 } }`)); return [Object.keys(copy), copy.a]; })()',
      '(() => { const copy = structuredClone(Object.create({ a: 1 }, { b: { value: 2 }, c: { get: () => 3, enumerable: true } })); return [copy, copy.a]; })()',
      '(() => { const all = new Uint8Array([1, 2, 3]), [one, other] = structuredClone([all, all.subarray(1)]); return [one.buffer === other.buffer, ...other]; })()',
      '(() => { const copy = structuredClone(new Float32Array(new ArrayBuffer(8, { maxByteLength: 16 }))); copy.buffer.resize(16); return copy.length; })()',
      '(() => { const map = new Map([[1, { get a() { map.set(2, 2); return 1; } }]]); return [...structuredClone(map)]; })()',
      '(() => { const all = { get a() { delete all.b; return 1; }, b: 2 }; return structuredClone(all); })()',
      '(() => { const cause = {}, copy = structuredClone(Object.assign(new RangeError("x", { cause }), { extra: 1 })); return [copy instanceof RangeError, copy.message, copy.cause, typeof copy.stack, copy.extra]; })()',
      'structuredClone(Object.assign(new Error("x"), { name: "Mine" })).name',
      '(() => { const error = new Error("x"); error.cause = error; const copy = structuredClone(error); return copy.cause === copy; })()',
      ...[
        'new URL("a:b")',
        'new URLSearchParams()',
        'new Headers()',
        'new Intl.Collator()',
        'new WeakMap()',
        'Promise.resolve()',
        '[].values()',
        '(function* () {})()',
      ].map((value) => `structuredClone({ a: [${value}] })`),
      'structuredClone({ get [Symbol.toStringTag]() { return "Map"; } })',
    ].map((one) =>
      one.includes('structuredClone') || (one.includes('(') && !one.startsWith('['))
        ? one
        : `structuredClone(${one})`,
    ),
    'structuredClone(() => 1)',
    'structuredClone({ a: Symbol() })',
    'structuredClone({ get a() { throw new RangeError(); } })',
    'structuredClone()',
  ]));

const hexOf = (expression: string) =>
  `(async () => Array.from(new Uint8Array(await ${expression}), (byte) => byte.toString(16)).join())()`;
const withKey = (length: number, algorithm: string, usages: string, then: string) =>
  hexOf(
    `crypto.subtle.importKey('raw', new Uint8Array(${length}).fill(7), ${algorithm}, false, ${usages}).then((key) => ${then})`,
  );

test('digests, signatures, ciphers and derived keys are those of Node', () =>
  assertSameAsNode([
    ...['SHA-1', 'sha-256', 'SHA-384', 'SHA-512'].flatMap((hash) => [
      ...[0, 1, 63, 64, 65, 5000].map((size) =>
        hexOf(`crypto.subtle.digest('${hash}', new Uint8Array(${size}).fill(5))`),
      ),
      ...[1, 64, 200].map((size) =>
        withKey(
          size,
          `{ name: 'HMAC', hash: '${hash}' }`,
          '["sign"]',
          `crypto.subtle.sign('HMAC', key, new Uint8Array(99))`,
        ),
      ),
      withKey(
        9,
        '"PBKDF2"',
        '["deriveBits"]',
        `crypto.subtle.deriveBits({ name: 'PBKDF2', hash: '${hash}', salt: new Uint8Array(8), iterations: 50 }, key, 256)`,
      ),
      withKey(
        9,
        '"HKDF"',
        '["deriveBits"]',
        `crypto.subtle.deriveBits({ name: 'HKDF', hash: '${hash}', salt: new Uint8Array(8), info: new Uint8Array(3) }, key, 384)`,
      ),
    ]),
    ...[16, 24, 32].flatMap((size) => [
      ...[0, 1, 16, 1000].flatMap((length) => [
        withKey(
          size,
          '"AES-GCM"',
          '["encrypt"]',
          `crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12), additionalData: new Uint8Array(3) }, key, new Uint8Array(${length}))`,
        ),
        withKey(
          size,
          '"AES-CBC"',
          '["encrypt"]',
          `crypto.subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, key, new Uint8Array(${length}))`,
        ),
        withKey(
          size,
          '"AES-CTR"',
          '["encrypt"]',
          `crypto.subtle.encrypt({ name: 'AES-CTR', counter: new Uint8Array(16), length: 64 }, key, new Uint8Array(${length}))`,
        ),
      ]),
      withKey(
        size,
        '"AES-GCM"',
        '["encrypt"]',
        `crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(99), tagLength: 128 }, key, new Uint8Array(20))`,
      ),
    ]),
  ]));

test('uses of crypto come to the same, or to the same kind of error, as in Node', () =>
  assertSameAsNode([
    'crypto.subtle.digest("SHA-3", new Uint8Array(1))',
    'crypto.subtle.digest("SHA-256", "text")',
    'crypto.subtle.importKey("raw", new Uint8Array(5), "AES-GCM", false, ["encrypt"])',
    'crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["sign"])',
    'crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, [])',
    'crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"]).then((key) => crypto.subtle.exportKey("raw", key))',
    'crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["encrypt"]).then((key) => crypto.subtle.exportKey("jwk", key)).then(({ k, kty, alg }) => [k, kty, alg])',
    'crypto.subtle.importKey("jwk", { kty: "oct", k: "AQID" }, { name: "HMAC", hash: "SHA-256" }, true, ["sign"]).then((key) => crypto.subtle.exportKey("raw", key)).then((raw) => [...new Uint8Array(raw)])',
    'crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"]).then((key) => crypto.subtle.decrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, key, new Uint8Array(40)))',
    'crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["decrypt"]).then((key) => crypto.subtle.decrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, key, new Uint8Array(40)))',
    'crypto.subtle.generateKey({ name: "AES-GCM", length: 100 }, false, ["encrypt"])',
    'crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]).then(async (key) => [key.algorithm.length, key.algorithm.hash, key.type, key.extractable, key.usages, await crypto.subtle.verify("HMAC", key, await crypto.subtle.sign("HMAC", key, new Uint8Array(3)), new Uint8Array(3)), await crypto.subtle.verify("HMAC", key, new Uint8Array(32), new Uint8Array(3))])',
    'crypto.subtle.sign("HMAC", {}, new Uint8Array(1))',
    'crypto.getRandomValues(new Float32Array(1))',
    'crypto.getRandomValues(new Uint8Array(65537))',
    'crypto.randomUUID().length + new Set(Array.from({ length: 100 }, () => crypto.randomUUID())).size',
    'new CryptoKey()',
    'crypto.subtle.importKey("raw", new Uint8Array(9), "HKDF", false, ["deriveBits"]).then((key) => [key.constructor === CryptoKey, String(key), key.usages])',
    'crypto.subtle.importKey("raw", new Uint8Array(9), "HKDF", false, ["deriveBits"]).then((key) => crypto.subtle.deriveKey({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: new Uint8Array() }, key, { name: "AES-GCM", length: 128 }, true, ["encrypt"]))',
    'crypto.subtle.generateKey({ name: "AES-GCM", length: 100 }, false, [])',
    'crypto.subtle.generateKey({ name: "HMAC", hash: "MD5" }, false, ["encrypt"])',
    'crypto.subtle.generateKey({ name: "AES-CBC", length: 128 }, false, ["unwrapKey", "encrypt"]).then((key) => key.usages)',
    'crypto.subtle.importKey("jwk", { kty: "oct", k: "AQIDBAUGBwgJCgsMDQ4PEA", alg: "A256GCM" }, "AES-GCM", false, ["encrypt"])',
    'crypto.subtle.importKey("jwk", { kty: "oct", k: "AQIDBAUGBwgJCgsMDQ4PEA", alg: "A128GCM", use: "sig" }, "AES-GCM", false, ["encrypt"])',
    // What ends in no padding, by a cipher whose blocks are known: the last byte of a text is 0, 17 or not as the others.
    ...[0, 17, 3].map(
      (last) => `(async () => {
        const make = (usage) => crypto.subtle.importKey('raw', new Uint8Array(16).fill(7), 'AES-CBC', false, [usage]);
        const text = new Uint8Array(16).fill(1), all = { name: 'AES-CBC', iv: new Uint8Array(16) };
        text[15] = ${last};
        const encrypted = await crypto.subtle.encrypt(all, await make('encrypt'), text);
        return crypto.subtle.decrypt(all, await make('decrypt'), encrypted.slice(0, 16));
      })()`,
    ),
    ...[32, 96, 120, 128, 100].map(
      (tagLength) => `(async () => {
        const key = await crypto.subtle.importKey('raw', new Uint8Array(16).fill(7), 'AES-GCM', false, ['encrypt', 'decrypt']);
        const all = { name: 'AES-GCM', iv: new Uint8Array(12), additionalData: new Uint8Array(3), tagLength: ${tagLength} };
        const encrypted = new Uint8Array(await crypto.subtle.encrypt(all, key, new Uint8Array(5).fill(9)));
        const plain = [...new Uint8Array(await crypto.subtle.decrypt(all, key, encrypted))];
        const ends = [encrypted.slice(0, 3), encrypted.map((byte, at) => at ? byte : byte ^ 1), encrypted.map((byte, at) => at < encrypted.length - 1 ? byte : byte ^ 1)]
          .map((wrong) => crypto.subtle.decrypt(all, key, wrong).catch((error) => error.name));
        return [...encrypted, ...plain, await Promise.all(ends)];
      })()`,
    ),
    'new Crypto()',
    'new SubtleCrypto()',
  ]));

test('errors of crypto name what is supported', async () => {
  const messageOf = (expression: string) => `${expression}.catch((error) => error.message)`;
  assert.deepEqual(
    await inSandbox([
      messageOf('crypto.subtle.digest("MD5", new Uint8Array(1))'),
      messageOf('crypto.subtle.generateKey({ name: "RSA-PSS" }, true, ["sign"])'),
      messageOf('crypto.subtle.importKey("spki", new Uint8Array(1), "AES-GCM", true, ["encrypt"])'),
      messageOf('crypto.subtle.digest("SHA-256", "text")'),
    ]),
    [
      'digest does not support "MD5": use "SHA-1", "SHA-256", "SHA-384", "SHA-512".',
      'generateKey does not support "RSA-PSS": use "HMAC", "AES-GCM", "AES-CBC", "AES-CTR".',
      'A key can be imported as "raw" or "jwk".',
      '"data" must be an ArrayBuffer or a typed array; new TextEncoder().encode(text) makes one of text.',
    ].map((message) => JSON.stringify(message)),
  );
});
