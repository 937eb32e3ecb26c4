import * as z from 'zod';
import { badRequest, ServiceError } from './errors.ts';
import {
  defaultPermissions,
  isPermission,
  permissions,
  permissionsOf,
  scopes,
} from '../plugins/permissions.ts';
import type { Permission, Scope } from '../plugins/permissions.ts';
import { isStorable } from '../plugins/stored-text.ts';

/*
 * Checks of the texts in requests that vendors write about their tenants and users.
 */

const longestActor = 200;

/** The vendor's id for a person. It is shown to people, so it must hold no character that changes how other text looks. */
export const actorSchema = z
  .string()
  .min(1)
  .max(longestActor)
  .refine(isShowable, 'must hold no control or bidirectional characters')
  .meta({
    description: 'Your opaque id for the person. Drafts, versions and pins keep it.',
    example: 'user-42',
  });

/**
 * Whether a text holds no control or bidirectional characters. U+0000 passes, because {@link checkStorable} refuses it with
 * another error code.
 */
function isShowable(text: string): boolean {
  return !/[\p{Cc}\p{Bidi_Control}]/u.test(text.replaceAll('\0', ''));
}

/** Throws 400 for a text that not every database can store. The keys are the names of the fields. */
export function checkStorable(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined || isStorable(text)) continue;
    throw badRequest('invalid-text', `${name}: must hold neither U+0000 nor a lone surrogate.`, `/${name}`);
  }
}

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** The permissions of a token in a body of JSON. */
export const permissionsSchema = z
  .array(z.enum(permissions))
  .min(1)
  .max(permissions.length)
  .meta({ description: 'What the token permits. `read` is always included.' });

/** The permissions of a token in a query, separated by commas. */
export const permissionsParameter = z
  .string()
  .refine(
    (text) => text.split(',').every(isPermission),
    `must be some of ${permissions.join(', ')}, separated by commas`,
  )
  .transform((text) => text.split(',').filter(isPermission))
  .optional()
  .meta({
    description: `What the token permits, separated by commas: some of ${listed(permissions)}. \`read\` is always included. By default ${listed(defaultPermissions)}, as far as the scopes of the environment token allow.`,
    override: { type: 'string', pattern: `^(${permissions.join('|')})(,(${permissions.join('|')}))*$` },
    example: 'read,write',
  });

/**
 * The permissions of a new token: `read` and those that were asked for, each once and in their order. By default those that are
 * usual and that the scopes of the environment token let it give. Throws 403 for more than these let it give.
 */
export function tokenPermissions(
  granted: readonly Scope[],
  asked?: readonly Permission[],
): readonly Permission[] {
  const allowed = permissionsOf(granted);
  const excess = asked?.find((one) => !allowed.includes(one));
  if (excess !== undefined) {
    const message = `permissions: an environment token with the scopes ${granted.join(', ')} cannot give "${excess}".`;
    throw new ServiceError(403, 'not-permitted', message);
  }
  const given = asked ?? defaultPermissions;
  return permissions.filter((one) => allowed.includes(one) && (one === 'read' || given.includes(one)));
}

/** What an environment token may permit, in a body or a response. */
export const scopesSchema = z
  .array(z.enum(scopes))
  .min(1)
  .max(scopes.length)
  .meta({ description: 'What the environment token permits.', examples: [['run', 'access']] });
