/** How long a window is, in ms. All rates are by the minute. */
export const rateWindow = 60_000;

/** What a node asks the database for. */
export interface LeaseRequest {
  /** The most that all nodes together may take in a window. */
  readonly quota: number;
  /** What the node has allowed itself in this window and the database does not know of yet. It is counted in any case. */
  readonly unbooked: number;
  /** What it would like to have beside that. */
  readonly wanted: number;
}

/** What a node asks for in the name of a key, such as one tenant's runs. */
export type KeyedLeaseRequest = LeaseRequest & { readonly key: string };

/** What the database answered. */
export interface Lease {
  /** When the window ends that this counts in, in milliseconds since the epoch. */
  readonly endsAt: number;
  /** What the node may take, of what it wanted. */
  readonly granted: number;
  /** When the window before ended, and what all nodes together took in it. */
  readonly previousEndsAt: number;
  readonly previousUsed: number;
}

/** The counters that all nodes share. */
export interface Counters {
  /** Leases shares of several rates, each key once; answers by key. Rejects while the database cannot be had. */
  lease(requests: readonly KeyedLeaseRequest[], now: number): Promise<ReadonlyMap<string, Lease>>;
  /** Forgets windows that are over. */
  prune(now: number): Promise<void>;
}

/** The largest part of the quota that is leased at once. What an idle node has leased is lost to the others. */
const largestLease = 0.05;

/**
 * The part of the quota that a node may take in each window before the database has answered, so that the first request
 * does not wait. It is at least one.
 */
const ownPart = 0.01;

/**
 * What one node may still take of one rate, all of whose nodes share a counter in the database. It holds a share that was
 * leased there in advance; leases begin small and grow with what the node uses, so that little is left where nothing comes.
 *
 * A window begins with its first request and lasts a minute. Without the database the node has in each window the part
 * of the quota that it had in the last whole one.
 */
export class RateShare {
  #quota: number;
  #endsAt = -Infinity;
  /** What may be taken at once. */
  #credit = 0;
  /** All that this node has had in this window. */
  #total = 0;
  #unbooked = 0;
  #leaseSize = 0;
  /** Whether the database has no more for anybody in this window. */
  #isExhausted = false;
  /** What this node had in the window before, and when that ended. */
  #previousTotal = 0;
  #previousEndsAt = -Infinity;
  /** The part of the quota that this node had in the last whole window of which that is known. */
  #part: number | undefined;
  /** The window that the last request was made in. */
  #requestedIn = -Infinity;

  constructor(quota: number) {
    this.#quota = quota;
  }

  /** When the current window ends, in milliseconds since the epoch. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** Holds from the next window on, and for leases at once. */
  set quota(quota: number) {
    this.#quota = quota;
  }

  /**
   * Takes one. `lease-needed`: nothing is left here, and the database may have more. `unknown`: the same, and the database is
   * away, so that nobody can tell whether the rate is used up; this node has had no share that it could have again.
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

  /** Gives one back that was taken in this window. */
  refund(): void {
    if (this.#credit < this.#total) this.#credit += 1;
  }

  /** Whether so little is left that the next lease should be asked for now. */
  get isLow(): boolean {
    return !this.#isExhausted && this.#credit <= Math.floor(this.#leaseSize / 2);
  }

  /** What to ask for. `waiting`: how many requests wait for it. Either {@link apply} or {@link giveUp} has to follow. */
  createRequest(waiting: number): LeaseRequest {
    const unbooked = this.#unbooked;
    this.#unbooked = 0;
    this.#requestedIn = this.#endsAt;
    const share = Math.min(Math.ceil(this.#quota * largestLease), Math.max(1, this.#total));
    return { quota: this.#quota, unbooked, wanted: Math.max(share, waiting) };
  }

  /** Takes what the database has answered to a request. */
  apply({ wanted }: LeaseRequest, lease: Lease, now: number): void {
    // The window was over before the answer came; what it held is of no use any more.
    if (lease.endsAt <= now) return;
    this.#endsAt = lease.endsAt;
    this.#credit += lease.granted;
    this.#total += lease.granted;
    this.#leaseSize = lease.granted;
    this.#isExhausted = lease.granted < wanted;
    if (lease.previousEndsAt === this.#previousEndsAt && lease.previousUsed > 0) {
      // As the others had the rest, all such parts together are the whole quota.
      this.#part = Math.min(1, this.#previousTotal / lease.previousUsed);
    }
  }

  /** The database has not answered a request: what was to be booked still is. */
  giveUp({ unbooked }: LeaseRequest): void {
    if (this.#requestedIn === this.#endsAt) this.#unbooked += unbooked;
  }

  get #hasFormerShare(): boolean {
    return this.#part !== undefined || this.#previousTotal > 0 || this.#total >= this.#quota;
  }

  #enterWindow(now: number, isOnline: boolean): void {
    // A clock that was set back must not make this window longer.
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
    this.#allowUpTo(Math.max(1, Math.floor(this.#quota * ownPart)));
    this.#leaseSize = this.#credit;
  }

  /** Lets this node have so much in this window without asking. */
  #allowUpTo(amount: number): void {
    const more = Math.min(amount, this.#quota) - this.#total;
    if (more <= 0) return;
    this.#credit += more;
    this.#total += more;
    this.#unbooked += more;
  }
}
