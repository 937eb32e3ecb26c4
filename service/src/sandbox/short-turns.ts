/** From which age on a turn leaves its place to the next one, in ms. */
const longTurn = 5;

/** A place of a turn that has begun. */
interface Place {
  /** By `performance.now()`. */
  readonly began: number;
}

/**
 * Lets as many turns begin at once as there are cores: processes that share a core wait for each other, and find nothing in its
 * caches. A long turn leaves its place to the next one, so that none waits for a loop.
 */
export class ShortTurns {
  readonly #places: number;
  readonly #held = new Set<Place>();
  readonly #waiting: ((place: Place) => void)[] = [];

  constructor(places: number) {
    this.#places = places;
  }

  /** Resolves once a turn may begin, with the function to call at its end. */
  async enter(): Promise<() => void> {
    const place =
      this.#held.size < this.#places
        ? this.#hold()
        : await new Promise<Place>((resolve) => this.#waiting.push(resolve));
    return () => this.#leave(place);
  }

  /** Passes on the places of long turns. Call it again and again while there are turns. */
  passOn(now = performance.now()): void {
    const long = Array.from(this.#held).filter(({ began }) => now - began >= longTurn);
    for (const place of long) this.#leave(place);
  }

  #hold(): Place {
    const place = { began: performance.now() };
    this.#held.add(place);
    return place;
  }

  #leave(place: Place): void {
    if (this.#held.delete(place)) this.#waiting.shift()?.(this.#hold());
  }
}
