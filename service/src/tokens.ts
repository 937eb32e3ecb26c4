import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

// People and secret scanners recognize a token and its kind by the prefix.
const prefixes = { environment: 'pe_env_', editor: 'pe_edit_' } as const;

export type TokenKind = keyof typeof prefixes;

/** A new token: its kind's prefix and 256 random bits in base64url. */
export const createToken = (kind: TokenKind): string =>
  prefixes[kind] + randomBytes(32).toString('base64url');

/** The kind of a token, by its prefix; `undefined` for any other text. */
export const tokenKind = (token: string): TokenKind | undefined =>
  (Object.keys(prefixes) as TokenKind[]).find((kind) => token.startsWith(prefixes[kind]));

/**
 * The SHA-256 of a token, which is stored instead of it. A fast hash is enough because a token has 256 random bits; a verification
 * code has only twenty, and is hashed slowly (see `verification.ts`).
 */
export const hashToken = (token: string): Uint8Array => hash('sha256', token, 'buffer');

/** Compares two digests in a time that does not depend on where they differ. */
export const sameDigest = (a: Uint8Array, b: Uint8Array): boolean =>
  a.byteLength === b.byteLength && timingSafeEqual(a, b);
