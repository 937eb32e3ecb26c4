/** How often loading is tried, and the wait before the second try, in ms; each further wait is longer by as much. */
const MAX_TRIES = 5;
const PAUSE = 400;

/**
 * Loads a module that was not loaded with the page. While a service is upgraded, a node with another version of the editor
 * answers 404, and the next node may have the file, so it is requested more than once.
 * @throws what the last `load` threw
 */
export async function loadModule<Module>(load: () => Promise<Module>): Promise<Module> {
  for (let tries = 1; ; tries++) {
    try {
      return await load();
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE * tries));
    }
  }
}

/** A module that is loaded once, when it is first needed. */
export interface LazyModule<Module> {
  /** Returns the module, where it is loaded. */
  loaded: () => Module | undefined;
  /** Loads the module, unless it is loaded. Rejects when it cannot be loaded; the next call tries again. */
  load: () => Promise<Module>;
}

/** Makes a lazy module of a dynamic import. All calls of `load` share one loading. */
export function lazyModule<Module>(importModule: () => Promise<Module>): LazyModule<Module> {
  let loaded: Module | undefined;
  let loading: Promise<Module> | undefined;
  return {
    loaded: () => loaded,
    load: () =>
      (loading ??= loadModule(importModule).then(
        (module) => (loaded = module),
        (error: unknown) => {
          loading = undefined;
          throw error;
        },
      )),
  };
}
