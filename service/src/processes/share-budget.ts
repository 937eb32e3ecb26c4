import { BusyError } from './fair-queue.ts';
import type { BusyLevel, QueueOwner } from './fair-queue.ts';

/** How much may be held at once: in all, and by one environment, tenant and token while no other holds anything. */
export interface ShareLimits {
  readonly total: number;
  readonly perEnvironment: number;
  readonly perTenant: number;
  readonly perToken: number;
  /** Whether the shares stay as they are, so that a few may take all (default false: they shrink with what is left). */
  readonly areFixed?: boolean;
}

const levels: readonly BusyLevel[] = ['token', 'tenant', 'environment', 'service'];

/**
 * Counts what callers hold, such as bytes, and refuses what is more than a share. Shares shrink with what is left, as in the buffers
 * of switches ("dynamic thresholds"): an environment may hold a fixed multiple of what is free, a tenant likewise of what is free of
 * its environment's share, and a token of its tenant's. So whatever the number of those who take all that they can, something is left
 * for the next one. One that holds nothing yet needs no more than room. Fixed shares do not shrink.
 */
export class ShareBudget {
  readonly #max: readonly number[];
  readonly #areFixed: boolean;
  readonly #held = new Map<string, number>();

  constructor({ total, perEnvironment, perTenant, perToken, areFixed = false }: ShareLimits) {
    this.#max = [perToken, perTenant, perEnvironment, total];
    this.#areFixed = areFixed;
  }

  /** Counts `amount` for a caller until the returned function is called. Throws a {@link BusyError} where that is too much. */
  take(owner: QueueOwner, amount: number): () => void {
    const keys = keysOf(owner);
    this.#check(keys, amount);
    return this.#hold(keys, amount);
  }

  /** Throws a {@link BusyError} where a share is used up. */
  check(owner: QueueOwner): void {
    if (this.#held.size > 0) this.#check(keysOf(owner), 0);
  }

  /** Counts what is there already, even past a share. */
  hold(owner: QueueOwner, amount: number): () => void {
    return this.#hold(keysOf(owner), amount);
  }

  #check(keys: readonly string[], amount: number): void {
    const max = this.#max;
    const after = keys.map((key) => (this.#held.get(key) ?? 0) + amount);
    for (let i = 0; i < after.length; i++) {
      const { [i]: wanted = 0 } = after;
      const { [i]: share = 0, [i + 1]: sharedBy = 0 } = max;
      if (wanted > share) throw new BusyError(levels[i] ?? 'service');
      if (this.#areFixed) continue;
      const free = sharedBy - (after[i + 1] ?? 0);
      // The multiple is such that one alone may hold its whole share.
      const isTooMuch = wanted > amount && wanted * (sharedBy - share) > share * free;
      if (i + 1 < max.length && isTooMuch) throw new BusyError(levels[i + 1] ?? 'service');
    }
  }

  #hold(keys: readonly string[], amount: number): () => void {
    for (const key of keys) this.#held.set(key, (this.#held.get(key) ?? 0) + amount);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const key of keys) {
        const left = (this.#held.get(key) ?? 0) - amount;
        if (left > 0) this.#held.set(key, left);
        else this.#held.delete(key);
      }
    };
  }
}

/** The keys of a token, its tenant, its environment and the whole service. No name holds U+0000. */
function keysOf({ environment, tenant, token }: QueueOwner): readonly string[] {
  const ofEnvironment = `environment ${environment}`;
  const ofTenant = `${ofEnvironment}\0${tenant}`;
  return [`${ofTenant}\0${token}`, ofTenant, ofEnvironment, ''];
}
