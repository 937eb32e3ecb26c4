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

/** Loads them one after the other. */
export async function loadLaterParts(): Promise<void> {
  for (const part of parts) {
    // Where it is used, it is loaded again, and a failure is reported.
    await loadPart(part).catch(() => {});
  }
}
