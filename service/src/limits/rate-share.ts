import { partOf, wholeNode } from '../node-share.ts';
import type { NodeShare } from '../node-share.ts';

/** The length of a window, in ms. All rates are by the minute. */
export const rateWindow = 60_000;

/** A node's request for a lease. */
export interface LeaseRequest {
  /** How much all nodes together may use in a window. */
  readonly quota: number;
  /** How much the node has allowed itself in this window without a lease. It is counted in any case. */
  readonly unbooked: number;
  /** How much the node asks for besides that. */
  readonly wanted: number;
}

/** A request for a lease for one key, such as one tenant's runs. */
export type KeyedLeaseRequest = LeaseRequest & { readonly key: string };

/** A lease from the database. */
export interface Lease {
  /** When its window ends, in milliseconds since the epoch. */
  readonly endsAt: number;
  /** How much of what it asked for the node may use. */
  readonly granted: number;
  /** When the window before ended, and how much all nodes together used in it. */
  readonly previousEndsAt: number;
  readonly previousUsed: number;
}

/** The counters that all nodes share. */
export interface Counters {
  /**
   * Leases shares of several rates, and returns the leases by key. No two requests may have the same key. Rejects while the
   * database is unavailable.
   */
  lease(requests: readonly KeyedLeaseRequest[], now: number): Promise<ReadonlyMap<string, Lease>>;
  /** Deletes windows that are over. */
  prune(now: number): Promise<void>;
}

/** The largest part of the quota that is leased in advance. Other nodes cannot use what an idle node has leased. */
const largestLease = 0.05;

/**
 * The part of the quota that a node may use in each window without a lease, so that the first request does not wait. However
 * small the quota, a node may use one: the first of its processes.
 */
const ownPart = 0.01;

/**
 * One node's share of one rate, whose counter in the database all nodes have in common. The node leases parts of the quota in
 * advance. Leases begin small and grow with the node's use, so that little is wasted on an idle node.
 *
 * A window begins with its first request and lasts a minute. While the database is unavailable, the node may use in each window the
 * same part of the quota as in the last complete one.
 */
export class RateShare {
  #quota: number;
  readonly #nodeShare: NodeShare;
  #endsAt = -Infinity;
  /** How much may still be used without another lease. */
  #credit = 0;
  /** How much this node was granted or has allowed itself in this window. */
  #total = 0;
  #unbooked = 0;
  #leaseSize = 0;
  /** Whether the quota of this window is used up for all nodes. */
  #isExhausted = false;
  /** The total of the window before, and when that ended. */
  #previousTotal = 0;
  #previousEndsAt = -Infinity;
  /** The part of the quota that this node used in the last complete window for which it is known. */
  #part: number | undefined;
  /** When the window ends in which the last request for a lease was made. */
  #requestedIn = -Infinity;

  /** @param nodeShare divides what a node has in advance (default: this process is the whole node) */
  constructor(quota: number, nodeShare = wholeNode) {
    this.#quota = quota;
    this.#nodeShare = nodeShare;
  }

  /** When the current window ends, in milliseconds since the epoch. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** Changes the quota: for leases at once, otherwise from the next window on. */
  set quota(quota: number) {
    this.#quota = quota;
  }

  /**
   * Takes one. `lease-needed`: this node's share is used up, and the database may grant more. `unknown`: the same while the
   * database is unavailable, so that it is unknown whether the rate is used up, and this node has no former share to go by.
   */
  take(now: number, isOnline: boolean): 'taken' | 'refused' | 'lease-needed' | 'unknown' {
    this.#enterWindow(now, isOnline);
    if (this.#credit > 0) {
      this.#credit -= 1;
      return 'taken';
    }
    if (this.#isExhausted) return 'refused';
    if (isOnline) return 'lease-needed';
    return this.#hasFormerShare ? 'refused' : 'unknown';
  }

  /** Returns one that was taken in this window. */
  refund(): void {
    if (this.#credit < this.#total) this.#credit += 1;
  }

  /** Whether so little is left that the next lease should be requested now. */
  get isLow(): boolean {
    return !this.#isExhausted && this.#credit <= Math.floor(this.#leaseSize / 2);
  }

  /**
   * Makes a request for a lease. `waiting`: how many callers wait for it. Call {@link apply} or {@link giveUp} with it afterwards.
   */
  createRequest(waiting: number): LeaseRequest {
    const unbooked = this.#unbooked;
    this.#unbooked = 0;
    this.#requestedIn = this.#endsAt;
    const largest = Math.ceil((this.#quota * largestLease) / this.#nodeShare.count);
    const share = Math.min(largest, Math.max(1, this.#total));
    return { quota: this.#quota, unbooked, wanted: Math.max(share, waiting) };
  }

  /** Applies the lease for a request. */
  apply({ wanted }: LeaseRequest, lease: Lease, now: number): void {
    // The window was over before the lease arrived.
    if (lease.endsAt <= now) return;
    this.#endsAt = lease.endsAt;
    this.#credit += lease.granted;
    this.#total += lease.granted;
    this.#leaseSize = lease.granted;
    this.#isExhausted = lease.granted < wanted;
    if (lease.previousEndsAt === this.#previousEndsAt && lease.previousUsed > 0) {
      // All nodes compute their part from the same total, so that the parts add up to the whole quota.
      this.#part = Math.min(1, this.#previousTotal / lease.previousUsed);
    }
  }

  /** Takes back a request that failed, so that the next one books its unbooked amount. */
  giveUp({ unbooked }: LeaseRequest): void {
    if (this.#requestedIn === this.#endsAt) this.#unbooked += unbooked;
  }

  get #hasFormerShare(): boolean {
    return this.#part !== undefined || this.#previousTotal > 0 || this.#total >= this.#quota;
  }

  #enterWindow(now: number, isOnline: boolean): void {
    // A window that ends too far in the future is over, too: the clock was set back.
    if (now >= this.#endsAt || this.#endsAt > now + rateWindow * 2) this.#startWindow(now);
    if (isOnline || this.#isExhausted) return;
    this.#allowUpTo(this.#part === undefined ? this.#previousTotal : Math.floor(this.#part * this.#quota));
  }

  #startWindow(now: number): void {
    this.#previousTotal = this.#total;
    this.#previousEndsAt = this.#endsAt;
    this.#endsAt = now + rateWindow;
    this.#credit = this.#total = this.#unbooked = 0;
    this.#isExhausted = false;
    this.#allowUpTo(partOf(Math.max(1, Math.floor(this.#quota * ownPart)), this.#nodeShare));
    this.#leaseSize = this.#credit;
  }

  /** Raises what this node may use in this window to `amount`, without a lease. */
  #allowUpTo(amount: number): void {
    const more = Math.min(amount, this.#quota) - this.#total;
    if (more <= 0) return;
    this.#credit += more;
    this.#total += more;
    this.#unbooked += more;
  }
}
