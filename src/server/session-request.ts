import { type Grant, checkGrant } from './permissions.ts';

/** What every session can be asked with. */
export interface SessionTerms extends Grant {
  /** How long the token is good, in seconds: 60 to 86400. */
  expires_in?: number;
}

/**
 * What an editor token is for: one plugin, those of a namespace, or all of the tenant. `scope` is required and says what must
 * be named, so that a name that is missing never widens it.
 */
export type SessionRequest = SessionTerms &
  (
    | { scope: 'plugin'; fn: string; namespace?: string }
    | { scope: 'namespace'; namespace: string }
    | { scope: 'tenant' }
  );

/** The names that each scope has to have, and those that it may have. */
const NAMES: Readonly<Record<string, { required: readonly string[]; optional: readonly string[] }>> = {
  plugin: { required: ['fn'], optional: ['namespace'] },
  namespace: { required: ['namespace'], optional: [] },
  tenant: { required: [], optional: [] },
};

/**
 * The body of a request for a session, and what the answer has to say back.
 * @throws TypeError that names what is missing, not known, without a value or cannot be used.
 */
export function readSessionRequest(request: SessionRequest): { body: object; grant: Grant } {
  const given = { ...request } as Record<string, unknown>;
  const { scope, expires_in: seconds } = given;
  const names = typeof scope === 'string' && Object.hasOwn(NAMES, scope) ? NAMES[scope] : undefined;
  if (!names) throw new TypeError('scope must be plugin, namespace or tenant');
  const grant = checkGrant(given, ['scope', ...names.required, ...names.optional, 'expires_in']);
  const named: Record<string, string> = {};
  for (const name of [...names.required, ...names.optional]) {
    if (!Object.hasOwn(given, name) && names.optional.includes(name)) continue;
    const value = given[name];
    if (typeof value !== 'string' || !value || !value.isWellFormed()) {
      throw new TypeError(
        `${name} must be well-formed text, and not empty, for the scope ${scope as string}`,
      );
    }
    named[name] = value;
  }
  if (Object.hasOwn(given, 'expires_in') && !isLifetime(seconds)) {
    throw new TypeError('expires_in must be a whole number of seconds, 60 to 86400');
  }
  return { body: { ...named, ...grant, ...(seconds !== undefined && { expires_in: seconds }) }, grant };
}

const isLifetime = (seconds: unknown) =>
  Number.isInteger(seconds) && (seconds as number) >= 60 && (seconds as number) <= 86_400;
