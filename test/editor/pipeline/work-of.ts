import type { Work } from '../../../editor/src/pipeline/work.ts';

/** The state of a plugin that was opened and not touched, with these changes. */
export const workOf = (change: Partial<Work> = {}): Work => ({
  save: { kind: 'unchanged' },
  isOnline: true,
  isReadOnly: false,
  canDeploy: true,
  sourceKey: 'now',
  build: { kind: 'none' },
  deployment: { kind: 'none' },
  live: undefined,
  action: undefined,
  resolved: new Set(),
  testing: undefined,
  tests: [],
  problems: 0,
  errors: 0,
  ...change,
});
