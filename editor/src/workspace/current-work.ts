import type { SaveState } from '../draft/save-queue.ts';
import type { Work } from '../pipeline/work.ts';
import type { Access } from './access.ts';
import type { Actions } from './actions.ts';
import type { PluginDocument } from './plugin-document.ts';

export interface CurrentWorkOptions {
  save: SaveState;
  access: Access;
  actions: Actions;
  document: PluginDocument;
}

/** How far the open plugin is, as its parts know it now. */
export function currentWork({ save, access, actions, document }: CurrentWorkOptions): Work {
  const { pipeline, serviceState, testRuns } = actions;
  return {
    save,
    isOnline: serviceState.isOnline,
    isReadOnly: !access.canWrite,
    sourceKey: document.sourceKey,
    build: pipeline.build,
    deployment: pipeline.deployment,
    live: serviceState.live,
    action: pipeline.action,
    testing: testRuns.progress,
    tests: document.testStatuses,
    errors: document.errors,
  };
}
