/**
 * Source of a function that runs in a fresh engine before any plugin, and makes `crypto` of the engine's extension: only
 * algorithms whose results equal those elsewhere, with checked arguments and errors that name what there is.
 */
export const guestCrypto = String.raw`() => {
  'use strict';
  const { defineProperty } = Object;
  const share = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const tag = (type, name) => defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
  const native = globalThis.crypto;
  const nativeSubtle = native.subtle;
  const { CryptoKey } = globalThis;
  const call = (name, ...values) => nativeSubtle[name](...values);
  const failure = (name, message) => new DOMException(message, name);
  const quoted = (names) => names.map((name) => '"' + name + '"').join(', ');
  const hashes = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
  // The size of a block of each hash, in bits: that of a new HMAC key.
  const blockSizes = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 };
  const ciphers = ['AES-GCM', 'AES-CBC', 'AES-CTR'];
  const derivations = ['PBKDF2', 'HKDF'];
  const usagesOf = (name) => name === 'HMAC' ? ['sign', 'verify'] : derivations.includes(name) ? ['deriveKey', 'deriveBits'] : ['encrypt', 'decrypt'];
  // Which algorithms each operation has.
  const supported = {
    digest: hashes, sign: ['HMAC'], verify: ['HMAC'], encrypt: ciphers, decrypt: ciphers, generateKey: ['HMAC', ...ciphers],
    importKey: ['HMAC', ...ciphers, ...derivations], deriveBits: derivations,
  };
  const nameOf = (algorithm) => {
    const name = typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm;
    if (typeof name !== 'string') throw new TypeError('An algorithm is a name or an object with a name.');
    return name;
  };
  const find = (algorithm, operation, names = supported[operation]) => {
    const given = nameOf(algorithm);
    const name = names.find((one) => one === given.toUpperCase());
    if (name === undefined) throw failure('NotSupportedError', operation + ' does not support "' + given.slice(0, 50) + '": use ' + quoted(names) + '.');
    return name;
  };
  const bytesOf = (data, what) => {
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
    if (Object.prototype.toString.call(data) === '[object ArrayBuffer]') return new Uint8Array(data).slice();
    throw new TypeError('"' + what + '" must be an ArrayBuffer or a typed array; new TextEncoder().encode(text) makes one of text.');
  };
  const integerOf = (value, what, min, max) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < min || number > max)
      throw failure('OperationError', '"' + what + '" must be a whole number from ' + min + ' to ' + max + '.');
    return number;
  };
  const keys = new WeakSet();
  const keep = (key) => { keys.add(key); return key; };
  // The bytes of the keys for derivations, because the extension binds such a key to one hash when it is imported.
  const secrets = new WeakMap();
  const useKey = (key, usage, name) => {
    if (typeof key !== 'object' || key === null || !keys.has(key)) throw new TypeError('"key" must be a CryptoKey.');
    if (name !== undefined && key.algorithm.name !== name)
      throw failure('InvalidAccessError', 'The key is one of ' + key.algorithm.name + ', not of ' + name + '.');
    if (usage !== undefined && !key.usages.includes(usage))
      throw failure('InvalidAccessError', 'The key is not for "' + usage + '": name it among the usages that you make the key with.');
    return key;
  };
  const usagesFor = (name, usages, isSecret = true) => {
    const all = [...new Set([...usages].map(String))];
    const possible = usagesOf(name);
    for (const usage of all) {
      if (!possible.includes(usage)) throw failure('SyntaxError', 'A key of ' + name + ' cannot have the usage "' + usage.slice(0, 50) + '": use ' + quoted(possible) + '.');
    }
    if (!all.length && isSecret) throw failure('SyntaxError', 'A key needs one usage at least: ' + quoted(possible) + '.');
    return all;
  };
  // What the engine's extension says of a failure is a number only.
  const run = async (message, errorName, name, ...values) => {
    try {
      return await call(name, ...values);
    } catch (error) {
      throw failure(errorName, message);
    }
  };
  const parameters = (algorithm, operation) => {
    const name = find(algorithm, operation);
    if (name === 'AES-GCM') {
      const all = { name, iv: bytesOf(algorithm.iv, 'iv') };
      if (!all.iv.length) throw failure('OperationError', '"iv" must have one byte at least; 12 random ones are usual.');
      if (algorithm.additionalData !== undefined) all.additionalData = bytesOf(algorithm.additionalData, 'additionalData');
      if (algorithm.tagLength !== undefined && Number(algorithm.tagLength) !== 128) throw failure('OperationError', '"tagLength" must be 128, or left out.');
      return all;
    }
    const field = name === 'AES-CBC' ? 'iv' : 'counter';
    const block = bytesOf(algorithm[field], field);
    if (block.length !== 16) throw failure('OperationError', '"' + field + '" must have 16 bytes.');
    return name === 'AES-CBC' ? { name, iv: block } : { name, counter: block, length: integerOf(algorithm.length, 'length', 1, 128) };
  };
  const encodeKey = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const decodeKey = (text) => {
    if (typeof text !== 'string' || /[^\w-]/.test(text)) throw failure('DataError', '"k" of a JSON Web Key must be Base64 for URLs.');
    try {
      return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
    } catch {
      throw failure('DataError', '"k" of a JSON Web Key must be Base64 for URLs.');
    }
  };
  const jwkName = (algorithm) => algorithm.name === 'HMAC' ? 'HS' + algorithm.hash.name.slice(4) : 'A' + algorithm.length + algorithm.name.slice(4);

  const isCalled = Symbol('made here');
  class SubtleCrypto {
    constructor(mark) { if (mark !== isCalled) throw new TypeError('Illegal constructor: use crypto.subtle.'); }
    async digest(algorithm, data) {
      const name = find(algorithm, 'digest');
      return run('The digest failed.', 'OperationError', 'digest', name, bytesOf(data, 'data'));
    }
    async generateKey(algorithm, isExtractable, usages) {
      const name = find(algorithm, 'generateKey');
      const all = usagesFor(name, usages);
      let full;
      if (name === 'HMAC') {
        const hash = find(algorithm.hash, 'HMAC', hashes);
        full = { name, hash, length: algorithm.length === undefined ? blockSizes[hash] : integerOf(algorithm.length, 'length', 8, 65536) };
        if (full.length % 8) throw failure('OperationError', '"length" must be a multiple of 8.');
      } else {
        if (![128, 192, 256].includes(Number(algorithm.length))) throw failure('OperationError', '"length" of a key of AES must be 128, 192 or 256.');
        full = { name, length: Number(algorithm.length) };
      }
      const bytes = new Uint8Array(full.length >> 3);
      native.getRandomValues(bytes);
      return keep(await run('The key could not be made.', 'OperationError', 'importKey', 'raw', bytes, full, Boolean(isExtractable), all));
    }
    async importKey(format, data, algorithm, isExtractable, usages) {
      const name = find(algorithm, 'importKey');
      const all = usagesFor(name, usages);
      let bytes;
      if (format === 'jwk') {
        if (typeof data !== 'object' || data === null || data.kty !== 'oct') throw failure('DataError', 'A JSON Web Key must have "kty": "oct" here.');
        bytes = decodeKey(data.k);
        if (data.ext === false && isExtractable) throw failure('DataError', 'The JSON Web Key says "ext": false, so that its key cannot be extractable.');
        if (data.key_ops !== undefined && !all.every((usage) => data.key_ops.includes(usage)))
          throw failure('DataError', 'The JSON Web Key does not allow these usages: its "key_ops" are ' + quoted([...data.key_ops].map(String)) + '.');
      } else if (format === 'raw') bytes = bytesOf(data, 'keyData');
      else throw failure('NotSupportedError', 'A key can be imported as "raw" or "jwk".');
      if (derivations.includes(name) && isExtractable) throw failure('SyntaxError', 'A key of ' + name + ' cannot be extractable.');
      const full = { name };
      if (name === 'HMAC') {
        full.hash = find(algorithm.hash, 'HMAC', hashes);
        if (!bytes.length) throw failure('DataError', 'A key of HMAC needs one byte at least.');
      }
      if (ciphers.includes(name) && ![16, 24, 32].includes(bytes.length)) throw failure('DataError', 'A key of AES has 16, 24 or 32 bytes, not ' + bytes.length + '.');
      const key = keep(await run('The key is not one of ' + name + '.', 'DataError', 'importKey', 'raw', bytes, full, Boolean(isExtractable), all));
      if (derivations.includes(name)) secrets.set(key, bytes);
      return key;
    }
    async exportKey(format, key) {
      useKey(key);
      if (!key.extractable) throw failure('InvalidAccessError', 'The key is not extractable: make it with "extractable" true.');
      if (format !== 'raw' && format !== 'jwk') throw failure('NotSupportedError', 'A key can be exported as "raw" or "jwk".');
      const raw = await run('The key could not be exported.', 'OperationError', 'exportKey', 'raw', key);
      if (format === 'raw') return raw;
      return { key_ops: [...key.usages], ext: true, kty: 'oct', k: encodeKey(new Uint8Array(raw)), alg: jwkName(key.algorithm) };
    }
    async sign(algorithm, key, data) {
      const name = find(algorithm, 'sign');
      return run('The signature failed.', 'OperationError', 'sign', name, useKey(key, 'sign', name), bytesOf(data, 'data'));
    }
    async verify(algorithm, key, signature, data) {
      const name = find(algorithm, 'verify');
      return call('verify', name, useKey(key, 'verify', name), bytesOf(signature, 'signature'), bytesOf(data, 'data'));
    }
    async encrypt(algorithm, key, data) {
      const all = parameters(algorithm, 'encrypt');
      return run('The data could not be encrypted.', 'OperationError', 'encrypt', all, useKey(key, 'encrypt', all.name), bytesOf(data, 'data'));
    }
    async decrypt(algorithm, key, data) {
      const all = parameters(algorithm, 'decrypt');
      return run('The data could not be decrypted: the key, the parameters or the data are not those of the encryption.', 'OperationError',
        'decrypt', all, useKey(key, 'decrypt', all.name), bytesOf(data, 'data'));
    }
    async deriveBits(algorithm, key, length) { return derive(algorithm, key, length, 'deriveBits'); }
    async deriveKey(algorithm, key, derived, isExtractable, usages) {
      const name = find(derived, 'generateKey');
      const length = name === 'HMAC' ? derived.length ?? blockSizes[find(derived.hash, 'HMAC', hashes)] : derived.length;
      const bits = await derive(algorithm, key, length, 'deriveKey');
      return this.importKey('raw', bits, derived, isExtractable, usages);
    }
  }
  const derive = async (algorithm, key, length, usage) => {
    const name = find(algorithm, 'deriveBits');
    useKey(key, usage, name);
    const bits = integerOf(length, 'length', 8, 65536);
    if (bits % 8) throw failure('OperationError', '"length" must be a multiple of 8.');
    const all = { name, hash: find(algorithm.hash, name, hashes), salt: bytesOf(algorithm.salt, 'salt') };
    if (name === 'PBKDF2') all.iterations = integerOf(algorithm.iterations, 'iterations', 1, 10_000_000);
    else all.info = bytesOf(algorithm.info, 'info');
    const bound = await run('The derivation failed.', 'OperationError', 'importKey', 'raw', secrets.get(key), { name, hash: all.hash }, false, ['deriveBits']);
    return run('The derivation failed.', 'OperationError', 'deriveBits', all, bound, bits);
  };
  const typeOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
  const subtle = new SubtleCrypto(isCalled);
  class Crypto {
    constructor(mark) { if (mark !== isCalled) throw new TypeError('Illegal constructor: use crypto.'); }
    get subtle() { return subtle; }
    getRandomValues(array) {
      const type = typeOf.call(array);
      if (type === undefined || type.startsWith('Float')) throw failure('TypeMismatchError', 'getRandomValues takes a typed array of integers, such as a Uint8Array.');
      if (array.byteLength > 65536) throw failure('QuotaExceededError', 'getRandomValues gives 65536 bytes at once, not ' + array.byteLength + '.');
      return native.getRandomValues(array);
    }
    randomUUID() { return native.randomUUID(); }
  }
  tag(SubtleCrypto, 'SubtleCrypto');
  tag(Crypto, 'Crypto');
  share('Crypto', Crypto);
  share('SubtleCrypto', SubtleCrypto);
  share('CryptoKey', CryptoKey);
  share('crypto', new Crypto(isCalled));
}`;
