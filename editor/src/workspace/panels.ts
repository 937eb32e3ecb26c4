// The panels beside the text, as one chunk: it is loaded right after the text, which must not wait for it.

export { buildPanel } from '../pipeline/build-panel.ts';
export { createHistories } from './histories.ts';
export { PluginTypes } from './plugin-types.ts';
export { splitter } from '../ui/splitter.ts';
export { runPanel } from '../tests/run-panel.ts';
export { testsPanel } from '../tests/tests-panel.ts';
