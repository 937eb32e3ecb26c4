import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { joinIdentifier } from '../plugins/plugin-key.ts';
import { lock } from '../storage/db.ts';
import type { Storage } from '../storage/storage.ts';
import { deleteIdentityKeys, insertIdentityKey, listIdentityKeys } from '../storage/tables/identity-keys.ts';
import type { IdentityKey } from '../storage/tables/identity-keys.ts';
import type { CallContext } from './outbound.ts';
import type { Secrets } from './secrets.ts';

const [second, hour, day] = [1000, 3_600_000, 86_400_000];

/** How long a key signs. */
const rotation = 30 * day;

/** How long a key is published before it signs, and after it has signed for the last time. Verifiers cache keys. */
const published = hour;

/** After how long the keys are read again. Every node learns of a new one long before it signs. */
const refreshed = 10 * 60 * second;

/** How long a token is valid, in seconds. */
const tokenLife = 60;

/** What the private key of a row is encrypted for. */
export const identityKeyContext = (id: string) => ['identity_keys', id] as const;

/** Signs who a request is from, with keys that all nodes share, and says by which keys that can be verified. */
export class Identity {
  readonly #storage: Storage;
  readonly #secrets: Secrets;
  readonly #now: () => number;
  #keys: readonly IdentityKey[] = [];
  #readAt = -Infinity;
  /** Shared by all calls that come while the keys are read. */
  #reading: Promise<void> | undefined;
  readonly #private = new Map<string, Promise<CryptoKey>>();

  constructor(storage: Storage, secrets: Secrets, now: () => number) {
    this.#storage = storage;
    this.#secrets = secrets;
    this.#now = now;
  }

  /**
   * Signs a token that says whose request it is.
   * @param issuer the service's own origin
   * @param audience the origin that the request goes to
   */
  async sign(
    { plugin, version, runId, isTest }: CallContext,
    { issuer, audience }: { readonly issuer: string; readonly audience: string },
  ): Promise<string> {
    const { environment, tenant, namespace, pluginName } = plugin;
    const key = await this.#current();
    const issuedAt = Math.floor(this.#now() / second);
    const claims = {
      environment,
      tenant,
      namespace,
      plugin: pluginName,
      ...(isTest ? { test: true } : { version }),
      run: runId,
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', kid: key.id, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(joinIdentifier(plugin))
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + tokenLife)
      .sign(await this.#privateKey(key));
  }

  /** Makes the first key, so that it is published before the first token is verified. */
  async prepare(): Promise<void> {
    await this.#current();
  }

  /** The public keys, as a JSON Web Key Set. */
  async keySet(): Promise<{ readonly keys: readonly PublicKey[] }> {
    const now = this.#now();
    const keys = await listIdentityKeys(this.#storage.db);
    return { keys: keys.filter((_, i) => isPublished(keys, i, now)).map(toPublicKey) };
  }

  /** The key that signs now. Adds the first one, and the next one in time. */
  async #current(): Promise<IdentityKey> {
    const now = this.#now();
    const age = now - this.#readAt;
    if (age > refreshed || !signingKey(this.#keys, now)) {
      this.#reading ??= this.#read(now).finally(() => (this.#reading = undefined));
      // A key that was added since signs later than this, so that requests go on while the database is away.
      const isUsable = age < published && signingKey(this.#keys, now);
      if (isUsable) this.#reading.catch(() => {});
      else await this.#reading;
    }
    const key = signingKey(this.#keys, now);
    if (!key) throw new Error('There is no key that signs.');
    return key;
  }

  async #read(now: number): Promise<void> {
    const keys = await listIdentityKeys(this.#storage.db);
    this.#keys = needsKey(keys, now) ? await this.#addKey(now) : keys;
    this.#readAt = now;
  }

  /** Adds a key, unless another node has done so meanwhile, and deletes those that are published no more. */
  async #addKey(now: number): Promise<readonly IdentityKey[]> {
    const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
    const publicJwk = await exportJWK(publicKey);
    const id = await calculateJwkThumbprint(publicJwk);
    const sealed = this.#secrets.seal(JSON.stringify(await exportJWK(privateKey)), identityKeyContext(id));
    return this.#storage.transaction(async (db) => {
      await lock(db, 'identity keys');
      const keys = await listIdentityKeys(db);
      if (!needsKey(keys, now)) return keys;
      const last = keys.at(-1);
      const signsFrom = last ? Math.max(now + published, last.signsFrom + rotation) : now;
      await insertIdentityKey(db, { id, publicKey: JSON.stringify(publicJwk), sealed, signsFrom });
      const all = await listIdentityKeys(db);
      const old = all.filter((_, i) => !isPublished(all, i, now));
      await deleteIdentityKeys(
        db,
        old.map((key) => key.id),
      );
      return all.filter((key) => !old.includes(key));
    });
  }

  #privateKey({ id, sealed }: IdentityKey): Promise<CryptoKey> {
    let known = this.#private.get(id);
    if (!known) {
      known = this.#import(id, sealed);
      this.#private.set(id, known);
      known.catch(() => this.#private.delete(id));
    }
    return known;
  }

  async #import(id: string, sealed: string): Promise<CryptoKey> {
    const jwk = JSON.parse(this.#secrets.open(sealed, identityKeyContext(id))) as JWK;
    return (await importJWK(jwk, 'EdDSA')) as CryptoKey;
  }
}

/** The newest key whose time has come. The keys are in the order of their times. */
const signingKey = (keys: readonly IdentityKey[], now: number) =>
  keys.findLast(({ signsFrom }) => signsFrom <= now);

/** Whether a key has to be added: the first one, or one that takes over from the last. */
function needsKey(keys: readonly IdentityKey[], now: number): boolean {
  const last = keys.at(-1);
  return !last || last.signsFrom + rotation - published <= now;
}

/** A key is published until an hour after the next one has begun to sign. */
function isPublished(keys: readonly IdentityKey[], index: number, now: number): boolean {
  const next = keys[index + 1];
  return !next || next.signsFrom + published > now;
}

type PublicKey = JWK & { readonly kty: string; readonly kid: string };

const toPublicKey = ({ id, publicKey }: IdentityKey): PublicKey => ({
  ...(JSON.parse(publicKey) as JWK & { kty: string }),
  kid: id,
  alg: 'EdDSA',
  use: 'sig',
});
