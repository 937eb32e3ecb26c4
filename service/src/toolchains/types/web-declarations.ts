const withDoc = (doc: string, declaration: string) => `/** ${doc} */\n${declaration}`;

/** The globals of the web that the sandbox has: addresses, text in bytes, headers, copies and cryptography. */
export const webDeclarations = [
  withDoc(
    'Bytes, as an ArrayBuffer or a view of one.',
    `type BufferSource = ArrayBufferView<ArrayBuffer> | ArrayBuffer;`,
  ),
  withDoc(
    'The query of a URL, by names.',
    `interface URLSearchParams {
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, name: string, all: URLSearchParams) => void, self?: unknown): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare const URLSearchParams: {
  readonly prototype: URLSearchParams;
  new (init?: string | Iterable<readonly string[]> | Readonly<Record<string, string>> | URLSearchParams): URLSearchParams;
};`,
  ),
  withDoc(
    'An address in its parts.',
    `interface URL {
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}
declare const URL: {
  readonly prototype: URL;
  /** Throws a TypeError for what is no URL. */
  new (url: string | URL, base?: string | URL): URL;
  canParse(url: string | URL, base?: string | URL): boolean;
  /** null for what is no URL. */
  parse(url: string | URL, base?: string | URL): URL | null;
};`,
  ),
  withDoc(
    'Writes text as bytes of UTF-8.',
    `interface TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): { read: number; written: number };
}
declare const TextEncoder: { readonly prototype: TextEncoder; new (): TextEncoder };`,
  ),
  withDoc(
    'Reads text from bytes of UTF-8, UTF-16 or windows-1252.',
    `interface TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: BufferSource, options?: { stream?: boolean }): string;
}
declare const TextDecoder: {
  readonly prototype: TextDecoder;
  new (encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};`,
  ),
  withDoc(
    'The headers of a request or a response.',
    `interface Headers {
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, name: string, all: Headers) => void, self?: unknown): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare const Headers: {
  readonly prototype: Headers;
  new (init?: Headers | Readonly<Record<string, string>> | Iterable<readonly string[]>): Headers;
};`,
  ),
  withDoc(
    'A copy of a value with all that is in it.',
    `declare function structuredClone<T>(value: T, options?: { transfer?: ArrayBuffer[] }): T;`,
  ),
  withDoc(
    'An error of these functions, told apart by its name.',
    `interface DOMException extends Error {
  readonly code: number;
}
declare const DOMException: { readonly prototype: DOMException; new (message?: string, name?: string): DOMException };`,
  ),
  withDoc(
    'A key of crypto.subtle.',
    `interface CryptoKey {
  readonly type: 'secret';
  readonly extractable: boolean;
  readonly algorithm: { readonly name: string; readonly length?: number; readonly hash?: { readonly name: string } };
  readonly usages: KeyUsage[];
}
declare const CryptoKey: { readonly prototype: CryptoKey };
type KeyUsage = 'encrypt' | 'decrypt' | 'wrapKey' | 'unwrapKey' | 'sign' | 'verify' | 'deriveKey' | 'deriveBits';
type HashAlgorithm = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512' | { name: 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512' };
type CipherAlgorithm =
  | { name: 'AES-GCM'; iv: BufferSource; additionalData?: BufferSource; tagLength?: 32 | 64 | 96 | 104 | 112 | 120 | 128 }
  | { name: 'AES-CBC'; iv: BufferSource }
  | { name: 'AES-CTR'; counter: BufferSource; length: number };
type KeyAlgorithm =
  | { name: 'HMAC'; hash: HashAlgorithm; length?: number }
  | { name: 'AES-GCM' | 'AES-CBC' | 'AES-CTR'; length: number };
type ImportAlgorithm =
  | { name: 'HMAC'; hash: HashAlgorithm; length?: number }
  | { name: 'AES-GCM' | 'AES-CBC' | 'AES-CTR' | 'PBKDF2' | 'HKDF' }
  | 'AES-GCM' | 'AES-CBC' | 'AES-CTR' | 'PBKDF2' | 'HKDF';
type DerivationAlgorithm =
  | { name: 'PBKDF2'; hash: HashAlgorithm; salt: BufferSource; iterations: number }
  | { name: 'HKDF'; hash: HashAlgorithm; salt: BufferSource; info: BufferSource };
interface JsonWebKey {
  kty?: string;
  k?: string;
  alg?: string;
  ext?: boolean;
  key_ops?: string[];
}`,
  ),
  withDoc(
    'Digests, HMAC, AES-GCM, AES-CBC, AES-CTR, PBKDF2 and HKDF.',
    `interface SubtleCrypto {
  digest(algorithm: HashAlgorithm, data: BufferSource): Promise<ArrayBuffer>;
  generateKey(algorithm: KeyAlgorithm, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
  importKey(format: 'raw', key: BufferSource, algorithm: ImportAlgorithm, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
  importKey(format: 'jwk', key: JsonWebKey, algorithm: ImportAlgorithm, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
  exportKey(format: 'raw', key: CryptoKey): Promise<ArrayBuffer>;
  exportKey(format: 'jwk', key: CryptoKey): Promise<JsonWebKey>;
  sign(algorithm: 'HMAC' | { name: 'HMAC' }, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  verify(algorithm: 'HMAC' | { name: 'HMAC' }, key: CryptoKey, signature: BufferSource, data: BufferSource): Promise<boolean>;
  encrypt(algorithm: CipherAlgorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  decrypt(algorithm: CipherAlgorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  deriveBits(algorithm: DerivationAlgorithm, key: CryptoKey, length: number): Promise<ArrayBuffer>;
  deriveKey(algorithm: DerivationAlgorithm, key: CryptoKey, derived: KeyAlgorithm, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
}
declare const SubtleCrypto: { readonly prototype: SubtleCrypto };
interface Crypto {
  readonly subtle: SubtleCrypto;
  /** Fills a typed array of integers, of at most 65,536 bytes. */
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): \`\${string}-\${string}-\${string}-\${string}-\${string}\`;
}
declare const Crypto: { readonly prototype: Crypto };`,
  ),
  withDoc('Random values and cryptography.', `declare const crypto: Crypto;`),
].join('\n');
