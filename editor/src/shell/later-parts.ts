import { loadPart } from '../ui/load-part.ts';

/** The parts that are loaded when they are first used, and that most users come to use. */
const parts: readonly (() => Promise<unknown>)[] = [
  () => import('../code/problems.ts'),
  () => import('../service/build-stream.ts'),
  () => import('../pipeline/difference-view.ts'),
  () => import('../code/search-panel.ts'),
  () => import('../draft/compare-dialog.ts'),
  () => import('../draft/conflict.ts'),
  () => import('../workspace/help-dialog.ts'),
  () => import('../workspace/settings-dialog.ts'),
  () => import('../workspace/deploy-dialog.ts'),
  () => import('../workspace/start-over.ts'),
];

/** How long after the first text was shown they are loaded, in ms, so that nothing the user needs first has to wait. */
const QUIET = 3000;

/**
 * Loads what may be needed later, some time after the first text was shown. From then on an open editor asks the service for
 * no other file, so that it misses none when the service is upgraded and has other files by then.
 */
export function loadLaterParts(): void {
  setTimeout(() => void loadEach(), QUIET);
}

async function loadEach(): Promise<void> {
  for (const part of parts) {
    // Where it is used, it is loaded again, and a failure is reported.
    await loadPart(part).catch(() => {});
  }
}
