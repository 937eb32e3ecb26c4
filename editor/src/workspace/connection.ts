/** How long after a lost connection the service is asked again, in ms; each time longer by as much, up to ten times it. */
const PROBE = 3000;

export interface ConnectionOptions {
  /** Asks the service for something; what comes of it is told by {@link Connection.set}. */
  probe: () => Promise<void>;
  onChange: () => void;
}

/** Whether the service answered when it was asked last. While it does not, it is asked now and then. */
export class Connection {
  readonly #options: ConnectionOptions;
  #isOnline = true;
  #probes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
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
