import * as z from 'zod';
import { notFound } from '../errors.ts';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import type { TenantKey } from '../../plugins/plugin-key.ts';
import type { PluginRecord } from '../../storage/tables/plugin-records.ts';
import { actorSchema } from '../grant-schemas.ts';

/** The name of a version in a response. */
export const versionNameSchema = z.string().meta({ examples: ['v1.0.0'] });

/** A time in a response. */
export const timeSchema = z.iso.datetime();

export const toTime = (ms: number): string => new Date(ms).toISOString();

/** A plugin, as the operations for vendors and editors return it. */
export const pluginSchema = z
  .object({
    ident: z.string().meta({ examples: ['com.acme.customer-7'] }),
    namespace: z.string(),
    name: z.string(),
    lang: z.string().meta({ description: 'The language of the draft.', examples: ['typescript'] }),
    draft: z
      .object({
        revision: z.string().meta({ description: 'The ETag of the draft, with its quotes.' }),
        savedAt: timeSchema,
        actor: actorSchema.optional(),
      })
      .nullable(),
    built: z.boolean().meta({ description: 'Whether the current draft has a successful build.' }),
    live: versionNameSchema.nullable().meta({
      description:
        'The version that runs when a request names none: the pinned one, else the newest. `null` before the first deploy.',
    }),
    latest: versionNameSchema
      .nullable()
      .meta({ description: 'The newest version; `null` before the first deploy.' }),
    pinned: z
      .object({ version: versionNameSchema, at: timeSchema, actor: actorSchema.optional() })
      .nullable()
      .meta({
        description: 'The version that stays live whatever is deployed; `null` while the newest is live.',
      }),
    versions: z.int().min(0).meta({ description: 'How many versions there are.' }),
    outdated: z.boolean().meta({
      description:
        'Whether the live version was built with other schemas, or another version of a library, than its namespace has now.',
    }),
  })
  .meta({ id: 'Plugin' });

/** The version that runs where none is named; `undefined` before the first deploy. */
export const liveOf = ({ pinned, latest }: PluginRecord): string | undefined => pinned?.version ?? latest;

/** The details of a plugin, for a response. */
export function toPluginDetails(tenant: TenantKey, plugin: PluginRecord): z.input<typeof pluginSchema> {
  const { namespace, name, lang, draft, isBuilt, latest, pinned, versions, isOutdated } = plugin;
  return {
    ident: joinIdentifier(tenant),
    namespace,
    name,
    lang,
    draft: {
      revision: draft.etag,
      savedAt: toTime(draft.savedAt),
      ...(draft.actor !== undefined && { actor: draft.actor }),
    },
    built: isBuilt,
    live: liveOf(plugin) ?? null,
    latest: latest ?? null,
    pinned: pinned
      ? {
          version: pinned.version,
          at: toTime(pinned.at),
          ...(pinned.actor !== undefined && { actor: pinned.actor }),
        }
      : null,
    versions,
    outdated: isOutdated,
  };
}

export const pluginNotFound = () => notFound('plugin-not-found', 'There is no such plugin.');

export const versionNotFound = () => notFound('version-not-found', 'The plugin has no such version.');
