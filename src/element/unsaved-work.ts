/** Whether the editor holds work that is not saved; while it does, leaving the page asks the user first. */
export class UnsavedWork {
  dirty = false;

  #isGuarded: () => boolean;

  constructor(isGuarded: () => boolean) {
    this.#isGuarded = isGuarded;
  }

  set(dirty: boolean): void {
    this.dirty = dirty;
    // Listening all the time would keep some browsers from caching the page.
    if (dirty) addEventListener('beforeunload', this.#ask);
    else removeEventListener('beforeunload', this.#ask);
  }

  #ask = (event: Event): void => {
    if (this.#isGuarded()) event.preventDefault();
  };
}
