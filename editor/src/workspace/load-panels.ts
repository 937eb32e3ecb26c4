import { loadPart } from '../ui/load-part.ts';

export type Panels = typeof import('./panels.ts');

let loaded: Panels | undefined;
let loading: Promise<Panels> | undefined;

/** The panels, where they are loaded. */
export const loadedPanels = (): Panels | undefined => loaded;

/** Loads the panels, once. Rejects when they cannot be loaded; the next call tries again. */
export function loadPanels(): Promise<Panels> {
  return (loading ??= loadPart(() => import('./panels.ts')).then(
    (panels) => (loaded = panels),
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  ));
}
