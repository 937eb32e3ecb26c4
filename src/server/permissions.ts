import { SchemaError } from '../core/errors.ts';

/** The permissions of editor tokens, as the service has them. */
export const PERMISSIONS = ['read', 'write', 'deploy', 'runs'] as const;

/** What an editor token can allow. Every token allows `read`. */
export type Permission = (typeof PERMISSIONS)[number];

/** What an editor token allows, and for whom it is. */
export interface Grant {
  /**
   * `read`, `write` (save, build, test), `deploy` (deploy, set live, roll out) and `runs` (read real runs, with messages, logs and
   * payloads). By default the first three, as far as the scopes of the environment token allow. Every token has `read`.
   */
  permissions?: readonly Permission[];
  /**
   * Your id for the person: 1 to 200 characters. Drafts, versions and pins keep it. Use an opaque id, because it is in the address of
   * the access request.
   */
  actor?: string;
}

/**
 * Text without characters that hide or reorder the text around them. As in the service, its length is counted in characters
 * (code points), and not in UTF-16 code units.
 */
const SHOWABLE = /^[^\p{Cc}\p{Bidi_Control}]{1,200}$/u;

/**
 * @throws TypeError for what cannot be the name of an actor. The message does not repeat it.
 * @internal
 */
export function checkActor(actor: unknown): string {
  const isUsable = typeof actor === 'string' && actor.isWellFormed() && SHOWABLE.test(actor);
  if (isUsable) return actor;
  throw new TypeError('actor must be 1 to 200 characters, none of them a control or bidirectional one');
}

/**
 * Returns the permissions to ask for, each once. An empty array becomes `read`, which every token has.
 * @throws TypeError for anything but an array of known permissions.
 * @internal
 */
function checkPermissions(given: unknown): readonly Permission[] {
  const known: readonly unknown[] = PERMISSIONS;
  // The copy has no holes, which `every` would skip.
  if (!Array.isArray(given) || ![...(given as unknown[])].every((one) => known.includes(one))) {
    throw new TypeError(`permissions must be an array of ${PERMISSIONS.join(', ')}`);
  }
  return given.length > 0 ? [...new Set(given as Permission[])] : ['read'];
}

/**
 * Checks the permissions and the actor of a request. A field that is misspelt or has no value is an error, because it may have
 * been meant to narrow what the token allows.
 * @param known the names of the request's other fields
 * @throws TypeError that names the field.
 * @internal
 */
export function checkGrant(fields: object, known: readonly string[]): Grant {
  checkKeys(fields, [...known, 'permissions', 'actor']);
  const { permissions, actor } = fields as Record<string, unknown>;
  return {
    ...(Object.hasOwn(fields, 'permissions') && { permissions: checkPermissions(permissions) }),
    ...(Object.hasOwn(fields, 'actor') && { actor: checkActor(actor) }),
  };
}

/**
 * @throws TypeError for a key that is not known.
 * @internal
 */
export function checkKeys(fields: object, known: readonly string[]): void {
  for (const key of Reflect.ownKeys(fields)) {
    if (typeof key !== 'string' || !known.includes(key)) {
      throw new TypeError(`${String(key)} is not known here; the known fields are ${known.join(', ')}`);
    }
  }
}

/**
 * JSON leaves out a field that is `undefined`, so that a change would change nothing, and a limit would limit nothing.
 * @throws TypeError that names a field without a value.
 * @internal
 */
export function checkValues(fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) throw new TypeError(`${name} must have a value, or be left out`);
  }
}

/**
 * Checks that a token is what was asked for, because a service that knows no permissions would give one for everything.
 * @throws SchemaError when the record says that it allows anything else, or is for another actor.
 * @internal
 */
export function checkGranted({ permissions, actor }: Grant, record: unknown, label: string): void {
  const granted = Object(record) as { permissions?: unknown; actor?: unknown };
  if (permissions && !isSameSet(permissions, granted.permissions)) {
    throw new SchemaError(label, 'expected the permissions that were asked for', 'permissions');
  }
  if (actor !== undefined && granted.actor !== actor) {
    throw new SchemaError(label, 'expected the actor that was asked for', 'actor');
  }
}

function isSameSet(requested: readonly unknown[], granted: unknown): boolean {
  if (!Array.isArray(granted)) return false;
  const [a, b] = [new Set(['read', ...requested]), new Set<unknown>(['read', ...(granted as unknown[])])];
  return a.size === b.size && [...a].every((permission) => b.has(permission));
}
