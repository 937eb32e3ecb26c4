import { type Grant, checkGrant } from './permissions.ts';

/** The fields of every request for a session. */
export interface SessionTerms extends Grant {
  /** How long the token is valid, in seconds: 60 to 86400. By default what `EDITOR_TOKEN_TTL` of the service says, 900. */
  expires_in?: number;
}

/**
 * What an editor token is for: one plugin, the plugins of a namespace, or all plugins of the tenant. `scope` is required and says
 * which names must be there, so that a missing name is an error and never makes the token valid for more plugins.
 */
export type SessionRequest = SessionTerms &
  (
    | { scope: 'plugin'; fn: string; namespace?: string }
    | { scope: 'namespace'; namespace: string }
    | { scope: 'tenant' }
  );

type Scope = SessionRequest['scope'];

/** The names that a request of each scope must have, and those that it may have. */
const NAMES: Readonly<Record<Scope, { required: readonly string[]; optional: readonly string[] }>> = {
  plugin: { required: ['fn'], optional: ['namespace'] },
  namespace: { required: ['namespace'], optional: [] },
  tenant: { required: [], optional: [] },
};

/**
 * Makes the body of a request for a session, and the grant that the response is checked against.
 * @throws TypeError that names the field that is missing, not known, without a value or of no use.
 * @internal
 */
export function readSessionRequest(request: SessionRequest): { body: object; grant: Grant } {
  const fields = { ...request } as Record<string, unknown>;
  const { scope, expires_in: seconds } = fields;
  const names = typeof scope === 'string' && Object.hasOwn(NAMES, scope) ? NAMES[scope as Scope] : undefined;
  if (!names) throw new TypeError('scope must be plugin, namespace or tenant');
  const grant = checkGrant(fields, ['scope', ...names.required, ...names.optional, 'expires_in']);
  const named: Record<string, string> = {};
  for (const name of [...names.required, ...names.optional]) {
    if (!Object.hasOwn(fields, name) && names.optional.includes(name)) continue;
    const value = fields[name];
    if (typeof value !== 'string' || !value || !value.isWellFormed()) {
      throw new TypeError(
        `${name} must be well-formed text, and not empty, for the scope ${scope as string}`,
      );
    }
    named[name] = value;
  }
  if (Object.hasOwn(fields, 'expires_in') && !isLifetime(seconds)) {
    throw new TypeError('expires_in must be a whole number of seconds, 60 to 86400');
  }
  return { body: { ...named, ...grant, ...(seconds !== undefined && { expires_in: seconds }) }, grant };
}

const isLifetime = (seconds: unknown) =>
  Number.isInteger(seconds) && (seconds as number) >= 60 && (seconds as number) <= 86_400;
