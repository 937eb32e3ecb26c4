import { SchemaError } from '../core/errors.ts';

/** What an editor token may allow, beside reading, which each does. */
export type Permission = 'read' | 'write' | 'deploy' | 'runs';

/** What an editor token is to allow, and for whom it is. */
export interface Grant {
  /**
   * `read`, `write` (save, build, test), `deploy` (deploy, set live) and `runs` (messages, logs and payloads of real runs).
   * By default the first three. Every token has `read`.
   */
  permissions?: readonly Permission[];
  /** Your name for who it is: 1 to 200 characters. It is kept with what they do, and travels in addresses: use an opaque id. */
  actor?: string;
}

const PERMISSIONS: readonly unknown[] = ['read', 'write', 'deploy', 'runs'] satisfies Permission[];

/**
 * Text without what would hide or reorder the text around it. Its length is in characters, as the service counts them, and not
 * in UTF-16 code units.
 */
const SHOWABLE = /^[^\p{Cc}\p{Bidi_Control}]{1,200}$/u;

/** @throws TypeError for what cannot be the name of an actor. It is not repeated. */
export function checkActor(actor: unknown): string {
  const isUsable = typeof actor === 'string' && actor.isWellFormed() && SHOWABLE.test(actor);
  if (isUsable) return actor;
  throw new TypeError('actor must be 1 to 200 characters, none of them a control or bidirectional one');
}

/**
 * The permissions to ask for. An empty array becomes `read`, which every token has.
 * @throws TypeError for what is not an array of known ones.
 */
export function checkPermissions(permissions: unknown): readonly Permission[] {
  // The copy has no holes, which `every` would skip.
  if (
    !Array.isArray(permissions) ||
    ![...(permissions as unknown[])].every((one) => PERMISSIONS.includes(one))
  ) {
    throw new TypeError(`permissions must be an array of ${PERMISSIONS.join(', ')}`);
  }
  return permissions.length > 0 ? [...new Set(permissions as Permission[])] : ['read'];
}

/**
 * Checks the permissions and the actor of a request. A misspelt field or one without a value throws: it may have been meant
 * to narrow the token.
 * @param known the names of the other fields
 * @throws TypeError that names the field.
 */
export function checkGrant(given: object, known: readonly string[]): Grant {
  checkKeys(given, [...known, 'permissions', 'actor']);
  const { permissions, actor } = given as Record<string, unknown>;
  return {
    ...(Object.hasOwn(given, 'permissions') && { permissions: checkPermissions(permissions) }),
    ...(Object.hasOwn(given, 'actor') && { actor: checkActor(actor) }),
  };
}

/** @throws TypeError for a key that is not known. */
function checkKeys(given: object, known: readonly string[]): void {
  for (const key of Reflect.ownKeys(given)) {
    if (typeof key !== 'string' || !known.includes(key)) {
      throw new TypeError(`${String(key)} is not known here; there are ${known.join(', ')}`);
    }
  }
}

/**
 * Whether a token is what was asked for: a service that knows no permissions would give one for everything.
 * @throws SchemaError when it allows anything else, or is for somebody else.
 */
export function checkGranted({ permissions, actor }: Grant, record: unknown, where: string): void {
  const given = Object(record) as { permissions?: unknown; actor?: unknown };
  if (permissions && !isSameSet(permissions, given.permissions)) {
    throw new SchemaError(where, 'expected the permissions that were asked for', 'permissions');
  }
  if (actor !== undefined && given.actor !== actor) {
    throw new SchemaError(where, 'expected the actor that was asked for', 'actor');
  }
}

function isSameSet(asked: readonly unknown[], given: unknown): boolean {
  if (!Array.isArray(given)) return false;
  const [a, b] = [new Set(['read', ...asked]), new Set<unknown>(['read', ...(given as unknown[])])];
  return a.size === b.size && [...a].every((one) => b.has(one));
}
