import * as z from 'zod';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import { notFound, ServiceError } from '../errors.ts';
import { recordLevels } from '../../plugins/record-level.ts';
import { mebibyte } from '../../units.ts';
import { actorSchema } from '../grant-schemas.ts';
import { timeSchema, toTime } from './plugin-details.ts';
import type { ServiceContext } from '../context.ts';
import type { TenantKey } from '../../plugins/plugin-key.ts';
import { readTenantUsage, toMebibytes } from '../../storage/tables/tenant-storage.ts';
import { findTenant } from '../../storage/tables/tenants.ts';
import type { Tenant, TenantChanges } from '../../storage/tables/tenants.ts';

/** More than any tenant has, and small enough for every database. */
const largestCount = 1_000_000_000;

const longestDescription = 2000;

const limitSchema = z.int().min(0).max(largestCount);

export const descriptionSchema = z
  .string()
  .max(longestDescription)
  .meta({ description: 'For people, in the words of the vendor.' });

const limitFields = {
  plugins: limitSchema.meta({ description: 'How many plugins the tenant may have.' }),
  runsPerMinute: limitSchema.meta({ description: 'How many runs a minute; 0 for no limit.' }),
  storageMb: limitSchema.meta({
    description: 'How much the tenant may store in drafts, versions and programs, in MiB.',
  }),
  callsPerMinute: limitSchema.meta({
    description: 'How many requests a minute its plugins may make; 0 for no limit.',
  }),
  runTimeoutMs: limitSchema.min(1).meta({ description: 'How long a run may take, in ms.' }),
  runMemoryMb: limitSchema.min(1).meta({ description: 'How much memory a run may have, in MiB.' }),
  records: z
    .enum(recordLevels)
    .meta({ description: 'What the records of its runs hold: see `RUN_RECORDS`.' }),
};

type LimitFields = typeof limitFields;

/** Limits in a request: `null` is what the settings of the service say. */
export const limitChangesSchema = z
  .object(
    Object.fromEntries(
      Object.entries(limitFields).map(([name, field]) => [name, field.nullable().optional()]),
    ) as { [L in keyof LimitFields]: z.ZodOptional<z.ZodNullable<LimitFields[L]>> },
  )
  .meta({
    id: 'TenantLimitChanges',
    description:
      'Limits of this tenant that replace the settings of the service; `null` restores the setting. `plugins` and `runsPerMinute` may be above the setting, the others may not.',
  });

const limitsSchema = z.object(limitFields).partial().meta({
  id: 'TenantLimits',
  description: 'Limits of this tenant that replace the settings of the service.',
});

/** What a tenant stores, in MiB. */
export const usageSchema = z
  .object({
    storageMb: z.number().min(0).meta({ description: 'Drafts, versions and programs.' }),
    recordsMb: z.number().min(0).meta({ description: 'The details in the records of runs.' }),
    allowedStorageMb: z
      .number()
      .min(0)
      .optional()
      .meta({ description: 'How much `storageMb` may be; missing if there is no limit.' }),
  })
  .meta({ id: 'TenantUsage', description: 'What a tenant stores, in MiB of UTF-8.' });

/** Throws 422 for a limit of a tenant that is above that of the service. */
export function checkLimits(
  limits: NonNullable<TenantChanges['limits']>,
  { tenantStorage, maxLimits }: Pick<ServiceContext, 'tenantStorage' | 'maxLimits'>,
): void {
  const { run, calls, records } = maxLimits;
  const refuse = (name: keyof typeof limitFields, max: string) => {
    const message = `limits.${name}: must be at most ${max}, which is what the service allows.`;
    throw new ServiceError(422, 'invalid-body', message, { path: `/limits/${name}` });
  };
  const check = (name: 'storageMb' | 'runTimeoutMs' | 'runMemoryMb', max: number) => {
    if ((limits[name] ?? 0) > max) refuse(name, String(max));
  };
  if (tenantStorage !== undefined) check('storageMb', tenantStorage / mebibyte);
  check('runTimeoutMs', run.time);
  check('runMemoryMb', run.memory / mebibyte);
  const { callsPerMinute, records: level } = limits;
  if (calls && typeof callsPerMinute === 'number' && (callsPerMinute === 0 || callsPerMinute > calls))
    refuse('callsPerMinute', String(calls));
  if (level && recordLevels.indexOf(level) > recordLevels.indexOf(records)) refuse('records', records);
}

/** How many bytes a tenant may store; `undefined` for any number. */
function allowedStorage(
  { tenantStorage }: Pick<ServiceContext, 'tenantStorage'>,
  tenant: Pick<Tenant, 'limits'> | undefined,
): number | undefined {
  const { storageMb } = tenant?.limits ?? {};
  if (storageMb === undefined) return tenantStorage;
  return Math.min(storageMb * mebibyte, tenantStorage ?? Infinity);
}

/** The same for a tenant by its names, as this node knows it: at once after a change on this node, else within a second. */
export const allowedStorageOf = async (
  context: Pick<ServiceContext, 'storage' | 'tenantStorage'>,
  tenant: TenantKey,
): Promise<number | undefined> => allowedStorage(context, await context.storage.runs.tenant(tenant));

/** What a tenant stores, for a response. */
export async function usageOf(
  context: Pick<ServiceContext, 'storage' | 'tenantStorage'>,
  tenant: TenantKey,
): Promise<z.input<typeof usageSchema>> {
  const { storage } = context;
  const found = await readTenantUsage(storage.db, tenant);
  const allowed = allowedStorage(context, await findTenant(storage.db, tenant));
  return {
    storageMb: toMebibytes(found.storage),
    recordsMb: toMebibytes(found.records),
    ...(allowed !== undefined && { allowedStorageMb: toMebibytes(allowed) }),
  };
}

export const tenantSchema = z
  .object({
    environment: z.string(),
    tenant: z.string(),
    ident: z.string().meta({ description: 'The environment, a period and the tenant.' }),
    description: z.string(),
    suspended: z.boolean().meta({
      description: 'Whether the service refuses its tokens, gives it no new ones, and starts no runs.',
    }),
    createdAt: timeSchema,
    plugins: z.int().min(0).meta({ description: 'How many plugins it has.' }),
    actor: actorSchema
      .optional()
      .meta({ description: 'On whose behalf it was created or changed last: `x-actor` of that request.' }),
    limits: limitsSchema.optional(),
    usage: usageSchema.optional().meta({ description: 'Missing in lists.' }),
  })
  .meta({
    id: 'Tenant',
    example: {
      environment: 'com.acme',
      tenant: 'customer-7',
      ident: 'com.acme.customer-7',
      description: 'Seven Ltd.',
      suspended: false,
      createdAt: '2026-11-22T09:00:00.000Z',
      plugins: 12,
      limits: { plugins: 50 },
    },
  });

/** The details of a tenant, for a response. `plugins`: how many it has. */
export const toTenantDetails = (tenant: Tenant, plugins: number): z.input<typeof tenantSchema> => ({
  environment: tenant.environment,
  tenant: tenant.tenant,
  ident: joinIdentifier(tenant),
  description: tenant.description,
  suspended: tenant.isSuspended,
  createdAt: toTime(tenant.createdAt),
  plugins,
  ...(tenant.actor !== undefined && { actor: tenant.actor }),
  ...(Object.keys(tenant.limits).length > 0 && { limits: tenant.limits }),
});

export const tenantNotFound = () => notFound('tenant-not-found', 'There is no such tenant.');
