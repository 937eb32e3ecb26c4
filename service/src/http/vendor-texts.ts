import * as z from 'zod';
import { badRequest } from './errors.ts';
import { defaultPermissions, isPermission, permissions } from '../plugins/permissions.ts';
import type { Permission } from '../plugins/permissions.ts';
import { isStorable } from '../plugins/stored-text.ts';

/*
 * What vendors write about their tenants and users, as requests hold it.
 */

const longestActor = 200;

/** Says who somebody is, by the vendor's name for them. Shown to people, so that nothing in it may change how it looks. */
export const actorSchema = z
  .string()
  .min(1)
  .max(longestActor)
  .refine(isShowable, 'must hold no control or bidirectional characters')
  .meta({
    description: `The vendor's opaque id for the person, up to ${longestActor} characters. Drafts, versions and pins keep it.`,
    example: 'user-42',
  });

/**
 * Whether a text shows as what it is. What {@link refuseUnstorable} refuses passes here, because that is answered in another
 * way.
 */
function isShowable(text: string): boolean {
  return !/[\p{Cc}\p{Bidi_Control}]/u.test(text.replaceAll('\0', ''));
}

/** Throws 400 where a text is one that databases cannot keep. The names are those of the fields. */
export function refuseUnstorable(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined || isStorable(text)) continue;
    throw badRequest(
      'invalid-text',
      `${name}: must hold neither U+0000 nor half a surrogate pair.`,
      `/${name}`,
    );
  }
}

/** The permissions of a token in a body of JSON. */
export const permissionsSchema = z
  .array(z.enum(permissions))
  .min(1)
  .max(permissions.length)
  .meta({ description: 'What the token lets do; `read` is always among it.' });

/** The same in a query: separated by commas. */
export const permissionsParameter = z
  .string()
  .refine(
    (text) => text.split(',').every(isPermission),
    `must be some of ${permissions.join(', ')}, separated by commas`,
  )
  .transform((text) => text.split(',').filter(isPermission))
  .optional()
  .meta({
    description: `What the token lets do, separated by commas: some of ${permissions.map((one) => `\`${one}\``).join(', ')}. \`read\` is always among it; by default it is ${defaultPermissions.join(', ')}.`,
    override: { type: 'string', pattern: `^(${permissions.join('|')})(,(${permissions.join('|')}))*$` },
    example: 'read,write',
  });

/** The permissions of a new token, each once and in their order. */
export const tokenPermissions = (asked: readonly Permission[] = defaultPermissions): readonly Permission[] =>
  permissions.filter((one) => one === 'read' || asked.includes(one));
