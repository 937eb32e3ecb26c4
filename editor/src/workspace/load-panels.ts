import { lazyPart } from '../ui/load-part.ts';

export type Panels = typeof import('./panels.ts');

const panels = lazyPart(() => import('./panels.ts'));

/** The panels, where they are loaded. */
export const loadedPanels = panels.loaded;

/** Loads the panels, once. Rejects when they cannot be loaded; the next call tries again. */
export const loadPanels = panels.load;
