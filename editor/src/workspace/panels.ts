// What is beside the text, as one part: it comes right after the text, which must not wait for it.

export { buildPanel } from '../pipeline/build-panel.ts';
export { PluginTypes } from './plugin-types.ts';
export { runPanel } from '../tests/run-panel.ts';
export { testsPanel } from '../tests/tests-panel.ts';
