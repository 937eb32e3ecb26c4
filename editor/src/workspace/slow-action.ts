/** An action that takes longer than this, in ms, can be stopped from the head of the page, too. */
const SLOW = 500;

/** Knows whether the action that is under way has taken long, and reports when it has. */
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
