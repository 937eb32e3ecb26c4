import { coresOf, type NodeShare } from '../../node-share.ts';
import type { FairQueueLimits } from '../../processes/fair-queue.ts';

/** The limits of a queue for compilers or language help. `most`: how many jobs may run at once on a large machine. */
export function queueLimits(nodeShare: NodeShare, most: number, waitingPerTenant: number): FairQueueLimits {
  // At least three: a tenant leaves a slot to the other tenants of its environment, and the environment leaves one to the others.
  const slots = Math.min(most, Math.max(3, coresOf(nodeShare)));
  return {
    slots,
    slotsPerTenant: Math.floor(slots / 2),
    waiting: 256,
    waitingPerEnvironment: 128,
    waitingPerTenant,
    waitingPerToken: 8,
  };
}
