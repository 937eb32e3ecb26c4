import { type TemplateResult, render } from 'lit/html.js';

/** The element that shows the page's present view. */
export class Screen {
  readonly #root: HTMLElement;
  #view: (() => TemplateResult) | undefined;
  readonly #listeners = new Set<() => void>();
  #isDrawScheduled = false;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Shows a view, which replaces the former one. It is called anew for each drawing. */
  show(view: () => TemplateResult): void {
    // Before the first view, the page shows what its HTML has.
    if (!this.#view) this.#root.replaceChildren();
    this.#view = view;
    this.draw(true);
  }

  /** Calls `listener` after each drawing, for what is shown outside the root. Returns what ends that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Draws the view once for all changes of the current task, in a microtask; with `now`, at once. */
  draw(now = false): void {
    if (now) {
      if (this.#view) render(this.#view(), this.#root);
      for (const listener of this.#listeners) listener();
    } else if (!this.#isDrawScheduled) {
      this.#isDrawScheduled = true;
      queueMicrotask(() => {
        this.#isDrawScheduled = false;
        this.draw(true);
      });
    }
  }
}
