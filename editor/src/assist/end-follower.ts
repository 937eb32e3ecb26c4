/** Keeps the end of a panel in view while it grows, until the user scrolls up, and again once they are back at the end. */
export class EndFollower {
  readonly #isGrowing: () => boolean;
  #isFollowing = true;
  #scrollTop = 0;
  #panel: Element | undefined;
  #place: Element | undefined;
  #observer: ResizeObserver | undefined;

  constructor(isGrowing: () => boolean) {
    this.#isGrowing = isGrowing;
  }

  /** Follows the end, wherever the user has scrolled to. */
  restart(): void {
    this.#isFollowing = true;
  }

  /** @param panel what grows, in a `.dock-panel` that scrolls; `undefined` once it is removed */
  readonly watch = (panel: Element | undefined): void => {
    this.#observer?.disconnect();
    this.#place?.removeEventListener('scroll', this.#handleScroll);
    this.#place = undefined;
    this.#panel = panel;
    if (!panel) return;
    // By size, because the height of a text is known only once it is drawn.
    this.#observer = new ResizeObserver(() => this.#showEnd());
    this.#observer.observe(panel);
  };

  #showEnd(): void {
    // It is in the document by now.
    if (!this.#place) {
      this.#place = this.#panel?.closest('.dock-panel') ?? undefined;
      if (!this.#place) return;
      this.#place.addEventListener('scroll', this.#handleScroll);
      this.#observer?.observe(this.#place);
    }
    if (!this.#isFollowing || !this.#isGrowing()) return;
    this.#place.scrollTop = this.#place.scrollHeight;
    this.#scrollTop = this.#place.scrollTop;
  }

  readonly #handleScroll = (): void => {
    if (!this.#place) return;
    const { scrollTop, scrollHeight, clientHeight } = this.#place;
    // A panel that grew since it was scrolled is not at its end, and one that became higher is scrolled less.
    if (scrollHeight - scrollTop - clientHeight <= 1) this.#isFollowing = true;
    else if (scrollTop < this.#scrollTop - 1) this.#isFollowing = false;
    this.#scrollTop = scrollTop;
  };
}
