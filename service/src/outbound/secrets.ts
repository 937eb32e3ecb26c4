import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Nothing can be encrypted, or what is encrypted cannot be read, with the keys that the service has. */
export class SecretsUnavailableError extends Error {
  override readonly name = 'SecretsUnavailableError';
}

export interface SecretsOptions {
  /** Keys of 32 bytes. The first encrypts, all decrypt. */
  readonly keys?: readonly Uint8Array[] | undefined;
  /** Where a key is kept if there are none: a file that is made at first use. */
  readonly file?: string | undefined;
  /** Called once, where there is no digest because the key cannot be read. */
  readonly onNoDigest?: ((error: unknown) => void) | undefined;
}

const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];

interface Key {
  /** Says in what is encrypted which key it needs, and nothing of the key. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Encrypts what the service keeps for vendors, by AES-256-GCM with a random nonce each. `context` is what the text belongs to, such
 * as the key of its row: a text that was moved to another row is refused.
 */
export class Secrets {
  readonly #file: string | undefined;
  #onNoDigest: SecretsOptions['onNoDigest'];
  #keys: readonly Key[];

  constructor({ keys = [], file, onNoDigest }: SecretsOptions = {}) {
    // Each once: a key that were current and former would be replaced by itself without an end.
    this.#keys = [...new Map(keys.map(toKey).map((key) => [key.id, key])).values()];
    this.#file = file;
    this.#onNoDigest = onNoDigest;
  }

  /** Whether there is a key, or one can be made. */
  get isAvailable(): boolean {
    return this.#keys.length > 0 || this.#file !== undefined;
  }

  /** Encrypts a text. Throws a {@link SecretsUnavailableError} without a key. */
  seal(text: string, context: readonly (string | number)[]): string {
    const [key] = this.#known();
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce);
    cipher.setAAD(Buffer.from(JSON.stringify(context)));
    const encrypted = Buffer.concat([
      nonce,
      cipher.update(text, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return `${key.id}.${encrypted.toString('base64url')}`;
  }

  /** Decrypts a text. Throws a {@link SecretsUnavailableError} for one of another key or context. */
  open(sealed: string, context: readonly (string | number)[]): string {
    const [id = '', text = ''] = sealed.split('.');
    const key = this.#known().find((one) => one.id === id);
    if (!key)
      throw new SecretsUnavailableError('It was encrypted with a key that SECRETS_KEY does not hold.');
    const bytes = Buffer.from(text, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, nonceBytes));
      decipher.setAAD(Buffer.from(JSON.stringify(context)));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes)).toString('utf8') + decipher.final('utf8');
    } catch (cause) {
      throw new SecretsUnavailableError('It was changed, or belongs elsewhere.', { cause });
    }
  }

  /** A digest that says nothing of a text to who has no key; `undefined` without a key, or with one that cannot be read. */
  digest(text: string, body: Uint8Array): string | undefined {
    try {
      return this.digests(text, body)[0];
    } catch (error) {
      // A call that was made is recorded without a digest, rather than not at all.
      this.#onNoDigest?.(error);
      this.#onNoDigest = undefined;
      return undefined;
    }
  }

  /** The digests of a text by each key, the current one first: what has another one was made of another text. */
  digests(text: string, body: Uint8Array): string[] {
    if (!this.isAvailable) return [];
    return this.#known().map(({ bytes }) => {
      const own = createHmac('sha256', bytes).update('digests of calls').digest();
      return createHmac('sha256', own).update(JSON.stringify(text)).update(body).digest('base64url');
    });
  }

  /** The ids of the keys, that of the one that encrypts first; empty where none was needed yet. */
  get keyIds(): readonly string[] {
    if (!this.#keys.length && this.#file !== undefined) this.#keys = readKeyFile(this.#file);
    return this.#keys.map(({ id }) => id);
  }

  #known(): readonly [Key, ...Key[]] {
    const [first, ...others] = this.#keys;
    if (first) return [first, ...others];
    if (this.#file === undefined) throw new SecretsUnavailableError('SECRETS_KEY is not set.');
    const made = makeKeyFile(this.#file);
    this.#keys = [made];
    return [made];
  }
}

const toKey = (bytes: Uint8Array): Key => ({
  id: createHash('sha256').update('id of a key\0').update(bytes).digest('hex').slice(0, 12),
  bytes,
});

/** The key of a file; nothing where there is no file. */
function readKeyFile(file: string): readonly Key[] {
  try {
    const bytes = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
    if (bytes.length === keyBytes) return [toKey(bytes)];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  throw new SecretsUnavailableError(`${file} does not hold a key: 32 bytes in base64.`);
}

/** The key of a file, which is made if it is missing. Of several processes that make it at once, all take the same. */
function makeKeyFile(file: string): Key {
  const [known] = readKeyFile(file);
  if (known) return known;
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.${randomUUID()}.partial`;
  const descriptor = openSync(partial, 'wx', 0o600);
  try {
    writeSync(descriptor, `${randomBytes(keyBytes).toString('base64')}\n`);
    // What is encrypted with the key may be on the disk before a power cut, and so must be the key.
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  try {
    // Unlike a rename, a link never replaces a file that another process has made meanwhile.
    linkSync(partial, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(partial);
  }
  syncDirectory(dirname(file));
  const [made] = readKeyFile(file);
  if (!made) throw new SecretsUnavailableError(`${file} could not be made.`);
  return made;
}

function syncDirectory(path: string): void {
  // Windows opens no directories.
  if (process.platform === 'win32') return;
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
