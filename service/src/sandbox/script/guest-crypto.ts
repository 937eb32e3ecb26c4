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
  const call = (name, ...values) => nativeSubtle[name](...values);
  const failure = (name, message) => new DOMException(message, name);
  const quoted = (names) => names.map((name) => '"' + name + '"').join(', ');
  const hashes = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
  // The size of a block of each hash, in bits: that of a new HMAC key.
  const blockSizes = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 };
  const ciphers = ['AES-GCM', 'AES-CBC', 'AES-CTR'];
  const derivations = ['PBKDF2', 'HKDF'];
  const usagesOf = (name) => name === 'HMAC' ? ['sign', 'verify'] : derivations.includes(name) ? ['deriveKey', 'deriveBits'] : ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];
  const tagLengths = [32, 64, 96, 104, 112, 120, 128];
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
  const isCalled = Symbol('made here');
  // Set by the static block of the class, which alone reaches the private fields.
  let isKey, bytesOfKey, nativeOf;
  class CryptoKey {
    #bytes;
    #native;
    #extractable;
    #algorithm;
    #usages;
    static {
      isKey = (value) => typeof value === 'object' && value !== null && #bytes in value;
      bytesOfKey = (key) => key.#bytes;
      nativeOf = (key) => key.#native;
    }
    constructor(mark, bytes, extractable, algorithm, usages, native) {
      if (mark !== isCalled) throw new TypeError('Illegal constructor: use crypto.subtle.');
      this.#bytes = bytes;
      this.#native = native;
      this.#extractable = extractable;
      this.#algorithm = algorithm;
      this.#usages = usages;
    }
    get type() { return 'secret'; }
    get extractable() { return this.#extractable; }
    get algorithm() { return this.#algorithm; }
    get usages() { return this.#usages; }
  }
  const makeKey = async (bytes, { name, hash }, extractable, usages) => {
    if (!usages.length) throw failure('SyntaxError', 'A key needs one usage at least: ' + quoted(usagesOf(name)) + '.');
    const algorithm = derivations.includes(name) ? { name } : { name, length: 8 * bytes.length };
    if (hash !== undefined) algorithm.hash = { name: hash };
    // A key for derivations is imported for each, because the extension binds it to one hash. What a key is for is known here.
    const native = derivations.includes(name) ? undefined
      : await run('The key is not one of ' + name + '.', 'DataError', 'importKey', 'raw', bytes, { name, hash }, false, name === 'HMAC' ? ['sign', 'verify'] : ['encrypt', 'decrypt']);
    return new CryptoKey(isCalled, bytes, extractable, algorithm, usages, native);
  };
  const useKey = (key, usage, name) => {
    if (!isKey(key)) throw new TypeError('"key" must be a CryptoKey.');
    if (name !== undefined && key.algorithm.name !== name)
      throw failure('InvalidAccessError', 'The key is one of ' + key.algorithm.name + ', not of ' + name + '.');
    if (usage !== undefined && !key.usages.includes(usage))
      throw failure('InvalidAccessError', 'The key is not for "' + usage + '": name it among the usages that you make the key with.');
    return nativeOf(key);
  };
  // In the order of the standard.
  const usagesFor = (name, usages) => {
    const all = [...usages].map(String);
    const possible = usagesOf(name);
    for (const usage of all) {
      if (!possible.includes(usage)) throw failure('SyntaxError', 'A key of ' + name + ' cannot have the usage "' + usage.slice(0, 50) + '": use ' + quoted(possible) + '.');
    }
    return possible.filter((usage) => all.includes(usage));
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
      const all = { name, iv: bytesOf(algorithm.iv, 'iv'), tagLength: algorithm.tagLength === undefined ? 128 : Number(algorithm.tagLength) };
      if (!all.iv.length) throw failure('OperationError', '"iv" must have one byte at least; 12 random ones are usual.');
      if (algorithm.additionalData !== undefined) all.additionalData = bytesOf(algorithm.additionalData, 'additionalData');
      if (!tagLengths.includes(all.tagLength)) throw failure('OperationError', '"tagLength" must be one of ' + tagLengths.join(', ') + '.');
      return all;
    }
    const field = name === 'AES-CBC' ? 'iv' : 'counter';
    const block = bytesOf(algorithm[field], field);
    if (block.length !== 16) throw failure('OperationError', '"' + field + '" must have 16 bytes.');
    return name === 'AES-CBC' ? { name, iv: block } : { name, counter: block, length: integerOf(algorithm.length, 'length', 1, 128) };
  };
  // The extension takes off what the last byte says, whatever it is. So a whole block of padding is added, and the rest is checked here.
  const decryptBlocks = async (all, native, data) => {
    if (!data.length || data.length % 16) return undefined;
    const padding = new Uint8Array(await call('encrypt', { name: all.name, iv: data.slice(-16) }, native, new Uint8Array(0)));
    const longer = new Uint8Array(data.length + 16);
    longer.set(data);
    longer.set(padding.subarray(0, 16), data.length);
    const plain = new Uint8Array(await call('decrypt', all, native, longer));
    const count = plain[data.length - 1];
    if (plain.length !== data.length || !(count >= 1 && count <= 16) || !plain.subarray(-count).every((byte) => byte === count)) return undefined;
    return plain.slice(0, -count).buffer;
  };
  // The extension has tags of 128 bits, of which shorter ones are the beginning.
  const encryptWithTag = async ({ tagLength, ...all }, native, data) => {
    const whole = await call('encrypt', all, native, data);
    return tagLength === 128 ? whole : whole.slice(0, data.length + tagLength / 8);
  };
  const decryptWithTag = async ({ tagLength, ...all }, native, data) => {
    if (tagLength === 128) return call('decrypt', all, native, data);
    const size = data.length - tagLength / 8;
    if (size < 0) return undefined;
    // Encrypting what is encrypted gives the text, and encrypting that gives its tag.
    const plain = (await call('encrypt', all, native, data.slice(0, size))).slice(0, size);
    const again = new Uint8Array(await call('encrypt', all, native, new Uint8Array(plain)));
    return data.every((byte, at) => byte === again[at]) ? plain : undefined;
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
  const jwkName = (name, hash, length) => name === 'HMAC' ? 'HS' + (hash === 'SHA-1' ? '1' : hash.slice(4)) : 'A' + length + name.slice(4);
  // Of a new key, in bits.
  const lengthOf = (name, hash, length) => {
    if (name === 'HMAC') {
      const bits = length === undefined ? blockSizes[hash] : integerOf(length, 'length', 8, 65536);
      if (bits % 8) throw failure('OperationError', '"length" must be a multiple of 8.');
      return bits;
    }
    if (![128, 192, 256].includes(Number(length))) throw failure('OperationError', '"length" of a key of AES must be 128, 192 or 256.');
    return Number(length);
  };

  class SubtleCrypto {
    constructor(mark) { if (mark !== isCalled) throw new TypeError('Illegal constructor: use crypto.subtle.'); }
    async digest(algorithm, data) {
      const name = find(algorithm, 'digest');
      return run('The digest failed.', 'OperationError', 'digest', name, bytesOf(data, 'data'));
    }
    async generateKey(algorithm, isExtractable, usages) {
      const name = find(algorithm, 'generateKey');
      const hash = name === 'HMAC' ? find(algorithm.hash, 'HMAC', hashes) : undefined;
      const all = usagesFor(name, usages);
      return makeKey(native.getRandomValues(new Uint8Array(lengthOf(name, hash, algorithm.length) / 8)), { name, hash }, Boolean(isExtractable), all);
    }
    async importKey(format, data, algorithm, isExtractable, usages) {
      const name = find(algorithm, 'importKey');
      const hash = name === 'HMAC' ? find(algorithm.hash, 'HMAC', hashes) : undefined;
      const all = usagesFor(name, usages);
      let bytes;
      if (format === 'jwk') {
        if (typeof data !== 'object' || data === null || data.kty !== 'oct') throw failure('DataError', 'A JSON Web Key must have "kty": "oct" here.');
        bytes = decodeKey(data.k);
        const { alg, ext, use, key_ops: operations } = data;
        const expected = derivations.includes(name) ? undefined : jwkName(name, hash, 8 * bytes.length);
        if (alg !== undefined && expected !== undefined && alg !== expected) throw failure('DataError', 'The JSON Web Key is one for another algorithm: its "alg" must be "' + expected + '", or left out.');
        if (use !== undefined && all.length && use !== (name === 'HMAC' ? 'sig' : 'enc')) throw failure('DataError', 'The "use" of the JSON Web Key is another one.');
        if (ext === false && isExtractable) throw failure('DataError', 'The JSON Web Key says "ext": false, so that its key cannot be extractable.');
        if (operations !== undefined && !all.every((usage) => operations.includes(usage)))
          throw failure('DataError', 'The JSON Web Key does not allow these usages: its "key_ops" are ' + quoted([...operations].map(String)) + '.');
      } else if (format === 'raw') bytes = bytesOf(data, 'keyData');
      else throw failure('NotSupportedError', 'A key can be imported as "raw" or "jwk".');
      if (derivations.includes(name) && isExtractable) throw failure('SyntaxError', 'A key of ' + name + ' cannot be extractable.');
      if (name === 'HMAC' && (!bytes.length || (algorithm.length !== undefined && Number(algorithm.length) !== 8 * bytes.length)))
        throw failure('DataError', bytes.length ? 'The key has ' + 8 * bytes.length + ' bits, and not "length".' : 'A key of HMAC needs one byte at least.');
      if (ciphers.includes(name) && ![16, 24, 32].includes(bytes.length)) throw failure('DataError', 'A key of AES has 16, 24 or 32 bytes, not ' + bytes.length + '.');
      return makeKey(bytes, { name, hash }, Boolean(isExtractable), all);
    }
    async exportKey(format, key) {
      useKey(key);
      if (!key.extractable) throw failure('InvalidAccessError', 'The key is not extractable: make it with "extractable" true.');
      if (format !== 'raw' && format !== 'jwk') throw failure('NotSupportedError', 'A key can be exported as "raw" or "jwk".');
      const bytes = bytesOfKey(key).slice();
      if (format === 'raw') return bytes.buffer;
      const { name, hash, length } = key.algorithm;
      return { key_ops: [...key.usages], ext: true, kty: 'oct', k: encodeKey(bytes), alg: jwkName(name, hash?.name, length) };
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
      const native = useKey(key, 'encrypt', all.name), bytes = bytesOf(data, 'data');
      try {
        return all.name === 'AES-GCM' ? await encryptWithTag(all, native, bytes) : await call('encrypt', all, native, bytes);
      } catch {
        throw failure('OperationError', 'The data could not be encrypted.');
      }
    }
    async decrypt(algorithm, key, data) {
      const all = parameters(algorithm, 'decrypt');
      const native = useKey(key, 'decrypt', all.name), bytes = bytesOf(data, 'data');
      let plain;
      try {
        plain = all.name === 'AES-GCM' ? await decryptWithTag(all, native, bytes)
          : all.name === 'AES-CBC' ? await decryptBlocks(all, native, bytes) : await call('decrypt', all, native, bytes);
      } catch {}
      if (plain === undefined)
        throw failure('OperationError', 'The data could not be decrypted: the key, the parameters or the data are not those of the encryption.');
      return plain;
    }
    async deriveBits(algorithm, key, length) { return derive(algorithm, key, length, 'deriveBits'); }
    async deriveKey(algorithm, key, derived, isExtractable, usages) {
      const name = find(derived, 'generateKey');
      const length = lengthOf(name, name === 'HMAC' ? find(derived.hash, 'HMAC', hashes) : undefined, derived.length);
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
    const bound = await run('The derivation failed.', 'OperationError', 'importKey', 'raw', bytesOfKey(key), { name, hash: all.hash }, false, ['deriveBits']);
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
  tag(CryptoKey, 'CryptoKey');
  tag(SubtleCrypto, 'SubtleCrypto');
  tag(Crypto, 'Crypto');
  share('Crypto', Crypto);
  share('SubtleCrypto', SubtleCrypto);
  share('CryptoKey', CryptoKey);
  share('crypto', new Crypto(isCalled));
}`;
