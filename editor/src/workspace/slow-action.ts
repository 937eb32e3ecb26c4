/** What takes longer, in ms, can be stopped from the head of the page as well. */
const SLOW = 500;

/** Tells when the action that is under way has taken long. */
export class SlowAction {
  readonly #onSlow: () => void;
  #isSlow = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSlow: () => void) {
    this.#onSlow = onSlow;
  }

  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** An action is under way, or none is. */
  update(isBusy: boolean): void {
    if (!isBusy) return this.close();
    this.#timer ??= setTimeout(() => {
      this.#isSlow = true;
      this.#onSlow();
    }, SLOW);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isSlow = false;
  }
}
