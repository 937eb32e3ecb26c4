import type { TenantKey } from '../plugins/plugin-key.ts';
import type { AdjustableLimits } from '../sandbox/run-limits.ts';
import type { Tenant } from '../storage/tables/tenants.ts';
import { mebibyte } from '../units.ts';
import type { ServiceContext } from './context.ts';
import { tenantSuspended } from './errors.ts';

/**
 * The tenant whose plugin is to run; `undefined` where there is none. Throws where it is suspended, so ask when a run is requested, and
 * again at its turn: until then its body may arrive slowly, and others may go first.
 */
export async function tenantToRun(
  { storage }: Pick<ServiceContext, 'storage'>,
  key: TenantKey,
  when: 'requested' | 'turn' = 'requested',
): Promise<Tenant | undefined> {
  const tenant = await (when === 'turn' ? storage.runs.tenantAtTurn(key) : storage.runs.tenant(key));
  if (tenant?.isSuspended) throw tenantSuspended();
  return tenant;
}

/** The limits of a tenant's runs, at most those of the service; `undefined` where it has none. */
export function limitsOf(
  { limits: { runTimeoutMs: time, runMemoryMb } }: Tenant,
  max: AdjustableLimits,
): AdjustableLimits | undefined {
  if (time === undefined && runMemoryMb === undefined) return undefined;
  const memory = runMemoryMb === undefined ? max.memory : runMemoryMb * mebibyte;
  return { time: Math.min(time ?? max.time, max.time), memory: Math.min(memory, max.memory) };
}
