import * as z from 'zod';
import { badRequest } from './errors.ts';
import { defaultPermissions, isPermission, permissions } from '../plugins/permissions.ts';
import type { Permission } from '../plugins/permissions.ts';
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
    description: `The vendor's opaque id for the person, up to ${longestActor} characters. Drafts, versions and pins keep it.`,
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

/** The permissions of a token in a body of JSON. */
export const permissionsSchema = z
  .array(z.enum(permissions))
  .min(1)
  .max(permissions.length)
  .meta({ description: 'What the token lets do; `read` is always among it.' });

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
    description: `What the token lets do, separated by commas: some of ${permissions.map((one) => `\`${one}\``).join(', ')}. \`read\` is always among it; by default it is ${defaultPermissions.join(', ')}.`,
    override: { type: 'string', pattern: `^(${permissions.join('|')})(,(${permissions.join('|')}))*$` },
    example: 'read,write',
  });

/** The permissions of a new token: `read` and those that were asked for, each once and in their order. */
export const tokenPermissions = (asked: readonly Permission[] = defaultPermissions): readonly Permission[] =>
  permissions.filter((one) => one === 'read' || asked.includes(one));
