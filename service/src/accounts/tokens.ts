import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

// A prefix tells people, logs and secret scanners at a glance which kind of token lies before them.
const prefixes = { environment: 'pe_env_', editor: 'pe_edit_' } as const;

export type TokenKind = keyof typeof prefixes;

/** A new token: its kind's prefix and 256 random bits in base64url. */
export const createToken = (kind: TokenKind): string =>
  prefixes[kind] + randomBytes(32).toString('base64url');

/** Which kind of token a text claims to be; `undefined` for any other text. */
export const tokenKind = (token: string): TokenKind | undefined =>
  (Object.keys(prefixes) as TokenKind[]).find((kind) => token.startsWith(prefixes[kind]));

/**
 * What the store keeps of a token: its SHA-256. A plain hash is enough because a token has 256 random bits;
 * a verification code has twenty and is hashed slowly (see `verification.ts`).
 */
export const hashToken = (token: string): Uint8Array => createHash('sha256').update(token).digest();

/** Compares two digests in a time that tells nothing about where they differ. */
export const sameDigest = (a: Uint8Array, b: Uint8Array): boolean =>
  a.byteLength === b.byteLength && timingSafeEqual(a, b);
