import { randomBytes, randomInt, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { findOwnershipProblem } from './environment-ownership.ts';
import { issueOwnerToken } from './environment-token.ts';
import type { Storage } from '../storage/storage.ts';
import { sameDigest } from '../tokens.ts';
import {
  addCode,
  deleteCode,
  findCode,
  listCodeTimes,
  markCodeUsed,
  pruneCodes,
  takeTry,
} from '../storage/tables/verification-codes.ts';
import { findOwner } from '../storage/tables/environments.ts';
import { lockAddress } from '../storage/db.ts';

export const codeLifetimeMinutes = 10;
const triesPerCode = 5;
export const codesPerHour = 5;

const minute = 60_000;
const hour = 60 * minute;

/** The verification failed. The message says why, for its user. */
class VerificationError extends Error {
  override readonly name = 'VerificationError';
}

// A code has only twenty bits, so its hash is slow: trying all codes takes half a day, and a code is valid for ten minutes.
const slowHash = (code: string, salt: Uint8Array): Promise<Uint8Array> =>
  promisify<string, Uint8Array, number, object, Buffer>(scrypt)(code, salt, 32, { N: 2 ** 14 });

/** Throws a {@link VerificationError} when an environment does not belong to the domain of an address. */
export function checkOwnEnvironment({ email, environment }: { email: string; environment: string }): void {
  const reason = findOwnershipProblem(email, environment);
  if (reason !== undefined) throw new VerificationError(reason);
}

/**
 * Makes a six-digit code by which the owner of `email` (in lower case) can get a token for `environment`. Throws a
 * {@link VerificationError} when the environment belongs to another domain or another address, or when the address was sent
 * {@link codesPerHour} codes within an hour.
 */
export async function startVerification(
  storage: Storage,
  { email, environment }: { email: string; environment: string },
  now: number,
): Promise<{ id: number; code: string }> {
  // Environments that were verified before this rule may have an owner of another domain. Such an owner's token stays valid, but
  // this refuses them a new one.
  checkOwnEnvironment({ email, environment });
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const salt = randomBytes(16);
  const hash = await slowHash(code, salt);
  const id = await storage.transaction(async (db) => {
    // Locked before its codes are counted, because others may be about to add one.
    await lockAddress(db, email);
    const owner = await findOwner(db, environment);
    if (owner !== undefined && owner !== email) throw ownedByAnother(environment);
    await pruneCodes(db, now - hour);
    const [first, ...more] = await listCodeTimes(db, email, now - hour);
    if (first !== undefined && more.length + 1 >= codesPerHour) {
      const wait = Math.max(1, Math.ceil((first + hour - now) / minute));
      throw new VerificationError(
        `${email} has been sent ${codesPerHour} codes within an hour, which is the limit. Try again in ${wait} minutes.`,
      );
    }
    const expiresAt = now + codeLifetimeMinutes * minute;
    return addCode(db, { email, environment, salt, hash, expiresAt }, now);
  });
  return { id, code };
}

/** Deletes a code that could not be sent, so that it does not count for the limit. */
export const cancelVerification = ({ db }: Storage, id: number): Promise<void> => deleteCode(db, id);

/** The new environment token, or how many attempts are left (at least one). */
export type VerificationOutcome = { token: string } | { triesLeft: number };

/**
 * Verifies a code that was entered. Throws a {@link VerificationError} when that was the last attempt, when the code has expired or
 * was used, and when another address has become the owner of the environment meanwhile.
 */
export async function verifyCode(
  storage: Storage,
  id: number,
  entered: string,
  now: number,
): Promise<VerificationOutcome> {
  const salt = (await findCode(storage.db, id))?.salt;
  // Hashed before the transaction, because that takes a while, and others wait for a transaction.
  const hash = salt && (await slowHash(entered.replace(/[\s-]/g, ''), salt));
  const outcome = await storage.transaction(async (db) => {
    const code = hash && (await takeTry(db, id, triesPerCode, now));
    if (!code) {
      const found = await findCode(db, id);
      const isValid = found && !found.used && found.expiresAt > now;
      return isValid && found.tries >= triesPerCode ? 'exhausted' : 'expired';
    }
    if (!sameDigest(hash, code.hash)) {
      const triesLeft = triesPerCode - code.tries;
      return triesLeft ? { triesLeft } : 'exhausted';
    }
    await markCodeUsed(db, id);
    const token = await issueOwnerToken(db, code.environment, code.email, now);
    return token === undefined ? { taken: code.environment } : { token };
  });
  if (outcome === 'expired')
    throw new VerificationError('The code has expired. Run the command again for a new one.');
  if (outcome === 'exhausted') {
    throw new VerificationError(
      `That was wrong ${triesPerCode} times, so the code is void. Run the command again for a new one.`,
    );
  }
  if ('taken' in outcome) throw ownedByAnother(outcome.taken);
  return outcome;
}

const ownedByAnother = (environment: string) =>
  new VerificationError(
    `The environment ${environment} belongs to another e-mail address, the first that verified it. ` +
      'Choose another name for yours, below the domain of your address.',
  );
