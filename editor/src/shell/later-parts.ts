import { loadPart } from '../ui/load-part.ts';

/** What is loaded when it is first used, and what most users come to use. */
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

/** After a text is shown, in ms: what the user needs first has the line for itself. */
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
    // Whoever needs it loads it, and says so where that fails.
    await loadPart(part).catch(() => {});
  }
}
