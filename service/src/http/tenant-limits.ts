import type { AdjustableLimits } from '../sandbox/run-limits.ts';
import type { Tenant } from '../storage/tables/tenants.ts';
import { mebibyte } from '../units.ts';

/** The limits of a tenant's runs, at most those of the service; `undefined` where it has none. */
export function limitsOf(
  { limits: { runTimeoutMs: time, runMemoryMb } }: Tenant,
  max: AdjustableLimits,
): AdjustableLimits | undefined {
  if (time === undefined && runMemoryMb === undefined) return undefined;
  const memory = runMemoryMb === undefined ? max.memory : runMemoryMb * mebibyte;
  return { time: Math.min(time ?? max.time, max.time), memory: Math.min(memory, max.memory) };
}
