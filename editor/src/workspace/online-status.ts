/** The wait before the first probe, in ms. Each further wait is longer by as much, up to ten times it. */
const PROBE = 3000;

export interface OnlineStatusOptions {
  /** Sends a request to the service, and calls {@link OnlineStatus.set} with whether it was answered. */
  probe: () => Promise<void>;
  onChange: () => void;
}

/** Whether the last request to the service was answered. While it was not, the service is probed. */
export class OnlineStatus {
  readonly #options: OnlineStatusOptions;
  #isOnline = true;
  #probes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: OnlineStatusOptions) {
    this.#options = options;
  }

  get isOnline(): boolean {
    return this.#isOnline;
  }

  /** A request was answered, or could not be sent. */
  set(isOnline: boolean): void {
    if (isOnline === this.#isOnline) return;
    this.#isOnline = isOnline;
    clearTimeout(this.#timer);
    this.#probes = 0;
    if (!isOnline) this.#scheduleProbe();
    this.#options.onChange();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #scheduleProbe(): void {
    if (this.#isClosed) return;
    const wait = PROBE * Math.min(10, ++this.#probes);
    this.#timer = setTimeout(
      () => void this.#options.probe().then(() => !this.#isOnline && this.#scheduleProbe()),
      wait,
    );
  }
}
