import { loadPart } from '../ui/load-part.ts';

/** How long after the first text was shown they are loaded, in ms, so that nothing the user needs first has to wait. */
const DELAY = 3000;

/**
 * Loads what may be needed later, some time after the first text was shown. From then on an open editor requests no other file
 * from the service, so that it misses none when the service is upgraded and has other files.
 */
export function scheduleLaterParts(): void {
  setTimeout(() => {
    loadPart(() => import('./later-parts.ts')).then(
      ({ loadLaterParts }) => loadLaterParts(),
      // Each part is loaded where it is used, too.
      () => {},
    );
  }, DELAY);
}
