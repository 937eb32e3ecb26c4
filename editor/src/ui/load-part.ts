/** How often loading is tried, and the wait before the second try, in ms; each further wait is longer by as much. */
const MAX_TRIES = 5;
const PAUSE = 400;

/**
 * Loads a part of the editor that was not loaded with the page. While a service is upgraded, a node that has another version
 * of the editor answers 404, and the next node may have the file, so it is requested more than once.
 * @throws what the last `load` threw
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let tries = 1; ; tries++) {
    try {
      return await load();
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE * tries));
    }
  }
}

/** A part of the editor that is loaded once, when it is first needed. */
export interface LazyPart<Part> {
  /** Returns the part, where it is loaded. */
  loaded: () => Part | undefined;
  /** Loads the part, unless it is loaded. Rejects when it cannot be loaded; the next call tries again. */
  load: () => Promise<Part>;
}

/** Makes a lazy part of a dynamic import. All calls of `load` share one loading. */
export function lazyPart<Part>(importPart: () => Promise<Part>): LazyPart<Part> {
  let loaded: Part | undefined;
  let loading: Promise<Part> | undefined;
  return {
    loaded: () => loaded,
    load: () =>
      (loading ??= loadPart(importPart).then(
        (part) => (loaded = part),
        (error: unknown) => {
          loading = undefined;
          throw error;
        },
      )),
  };
}
