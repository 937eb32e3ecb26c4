import * as z from 'zod';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import { notFound } from '../errors.ts';
import { timeSchema, toTime } from './plugin-details.ts';
import type { ServiceContext } from '../context.ts';
import type { TenantKey } from '../../plugins/plugin-key.ts';
import { readTenantUsage, toMebibytes } from '../../storage/tables/tenant-storage.ts';
import type { Tenant } from '../../storage/tables/tenants.ts';

/** More than any tenant has, and small enough for every database. */
const largestCount = 1_000_000_000;

const longestDescription = 2000;

export const limitSchema = z.int().min(0).max(largestCount);

export const descriptionSchema = z
  .string()
  .max(longestDescription)
  .meta({ description: 'For people, in the words of the vendor.' });

const limits = z
  .object({
    plugins: limitSchema.optional().meta({ description: 'How many plugins it may have.' }),
    runsPerMinute: limitSchema
      .optional()
      .meta({ description: 'How many runs a minute it may have; 0 for any number.' }),
  })
  .meta({ description: 'In place of what the settings of the service say.' });

/** What a tenant stores, in MiB. */
export const usageSchema = z
  .object({
    storageMb: z.number().min(0).meta({ description: 'Drafts, versions and programs.' }),
    recordsMb: z.number().min(0).meta({ description: 'The details in the records of its runs.' }),
    allowedStorageMb: z.number().min(0).optional().meta({ description: 'What `storageMb` may be.' }),
  })
  .meta({ id: 'TenantUsage', description: 'In MiB of UTF-8.' });

/** What a tenant stores, for a response. */
export async function usageOf(
  { storage, tenantStorage }: Pick<ServiceContext, 'storage' | 'tenantStorage'>,
  tenant: TenantKey,
): Promise<z.input<typeof usageSchema>> {
  const found = await readTenantUsage(storage.db, tenant);
  return {
    storageMb: toMebibytes(found.storage),
    recordsMb: toMebibytes(found.records),
    ...(tenantStorage !== undefined && { allowedStorageMb: toMebibytes(tenantStorage) }),
  };
}

export const tenantSchema = z
  .object({
    environment: z.string(),
    tenant: z.string(),
    ident: z.string().meta({ description: 'The environment, a period and the tenant.' }),
    description: z.string(),
    suspended: z.boolean().meta({
      description: 'Tokens are neither given nor taken, and nothing new runs.',
    }),
    createdAt: timeSchema,
    plugins: z.int().min(0).meta({ description: 'How many it has.' }),
    limits: limits.optional(),
    usage: usageSchema.optional().meta({ description: 'Of one tenant; lists leave it out.' }),
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
  ...(Object.keys(tenant.limits).length > 0 && { limits: tenant.limits }),
});

export const tenantNotFound = () => notFound('tenant-not-found', 'There is no such tenant.');
