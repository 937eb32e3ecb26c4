import { randomBytes, randomInt, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { findOwnershipProblem } from './environment-ownership.ts';
import { issueOwnerToken } from './environment-token.ts';
import type { Storage } from '../storage/storage.ts';
import { sameDigest } from './tokens.ts';

export const codeLifetimeMinutes = 10;
export const triesPerCode = 5;
export const codesPerHour = 5;

const minute = 60_000;
const hour = 60 * minute;

/** Says in its message, for the person who asked, why there is no token. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
}

// A code has twenty bits, so its hash has to cost something: as it is, trying all of them takes half a day,
// and the code is of use for ten minutes.
const slowHash = (code: string, salt: Uint8Array): Promise<Uint8Array> =>
  promisify<string, Uint8Array, number, object, Buffer>(scrypt)(code, salt, 32, { N: 2 ** 14 });

/** Throws a {@link VerificationError} when an environment is not of an address's own domain. */
export function checkOwnEnvironment({ email, environment }: { email: string; environment: string }): void {
  const reason = findOwnershipProblem(email, environment);
  if (reason !== undefined) throw new VerificationError(reason);
}

/**
 * Makes a six-digit code by which `email` (in lower case) can prove itself and get `environment`'s token. Throws
 * a {@link VerificationError} when the environment is not of the address's domain or belongs to another address, or when
 * the address has had too many codes.
 */
export async function startVerification(
  storage: Storage,
  { email, environment }: { email: string; environment: string },
  now: number,
): Promise<{ id: number; code: string }> {
  // Who owns an environment of another domain from before this rule keeps that token, and gets no new one by mail.
  checkOwnEnvironment({ email, environment });
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const salt = randomBytes(16);
  const hash = await slowHash(code, salt);
  const id = await storage.transaction(async ({ environments, verificationCodes, lockAddress }) => {
    // Before its codes are counted, which others may be about to add to.
    await lockAddress(email);
    const owner = await environments.owner(environment);
    if (owner !== undefined && owner !== email) throw ownedByAnother(environment);
    await verificationCodes.prune(now - hour);
    const [first, ...more] = await verificationCodes.timesFor(email, now - hour);
    if (first !== undefined && more.length + 1 >= codesPerHour) {
      const wait = Math.max(1, Math.ceil((first + hour - now) / minute));
      throw new VerificationError(
        `${email} has been sent ${codesPerHour} codes within an hour, which is the limit. Try again in ${wait} minutes.`,
      );
    }
    const expiresAt = now + codeLifetimeMinutes * minute;
    return verificationCodes.add({ email, environment, salt, hash, expiresAt }, now);
  });
  return { id, code };
}

/** Takes back a code that could not be sent: it does not count. */
export const cancelVerification = ({ tables }: Storage, id: number): Promise<void> =>
  tables.verificationCodes.delete(id);

/** The new environment token, or how often one can try again (at least once). */
export type VerificationOutcome = { token: string } | { triesLeft: number };

/**
 * Checks an answer to a code. Throws a {@link VerificationError} when that was the last try, or the code has
 * expired or has done its work, or the environment became another's meanwhile.
 */
export async function verifyCode(
  storage: Storage,
  id: number,
  answer: string,
  now: number,
): Promise<VerificationOutcome> {
  const salt = (await storage.tables.verificationCodes.find(id))?.salt;
  // Hashing takes a moment; the lock on the data is taken after it.
  const hash = salt && (await slowHash(answer.replace(/[\s-]/g, ''), salt));
  const verdict = await storage.transaction(async (tables) => {
    const { verificationCodes } = tables;
    const code = hash && (await verificationCodes.takeTry(id, triesPerCode, now));
    if (!code) {
      const found = await verificationCodes.find(id);
      const isGood = found && !found.used && found.expiresAt > now;
      return isGood && found.tries >= triesPerCode ? 'exhausted' : 'expired';
    }
    if (!sameDigest(hash, code.hash)) {
      const triesLeft = triesPerCode - code.tries;
      return triesLeft ? { triesLeft } : 'exhausted';
    }
    await verificationCodes.markUsed(id);
    const token = await issueOwnerToken(tables, code.environment, code.email, now);
    return token === undefined ? { taken: code.environment } : { token };
  });
  if (verdict === 'expired')
    throw new VerificationError('The code has expired. Run the command again for a new one.');
  if (verdict === 'exhausted') {
    throw new VerificationError(
      `That was wrong ${triesPerCode} times, so the code is void. Run the command again for a new one.`,
    );
  }
  if ('taken' in verdict) throw ownedByAnother(verdict.taken);
  return verdict;
}

const ownedByAnother = (environment: string) =>
  new VerificationError(
    `The environment ${environment} belongs to another e-mail address, the first that verified it. ` +
      `Choose another name for yours: npm run env-token -- <address> <environment>`,
  );
