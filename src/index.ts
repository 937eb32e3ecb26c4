/** Defines `<plugin-editor>` and `<plugin-features>`. */
import './plugin-editor.ts';
import './plugin-features.ts';

export * from './elements.ts';
export * from './element/events.ts';
// The name that was published first.
export type { PluginKey as Plugin } from './element/events.ts';
export * from './element/features-events.ts';
export type { FetchFeaturesToken } from './element/features-store.ts';
export { defaultFeaturesStrings } from './element/strings.ts';
export type { PluginFeaturesStrings } from './element/strings.ts';
export type { PluginEditorState } from './element/element-state.ts';
export { defaultStrings } from './element/strings.ts';
export type { PluginEditorStrings } from './element/strings.ts';
export { HttpError, NetworkError, PluginEditorError, SchemaError, TimeoutError } from './core/errors.ts';
export type { PluginEditorErrorCode } from './core/errors.ts';
export type {
  Assistant,
  AssistantFailure,
  AssistantProblem,
  AssistantProposal,
  AssistantQuestion,
  AssistantRequest,
} from './core/assistant.ts';
export type { InitialSource, InitialTest } from './core/messages.ts';
export type { Features, Language, PluginTest } from './core/records.ts';
export type { FetchToken, TokenHeaders, TokenRequest } from './core/token.ts';
export type { EditorToken } from './core/token.ts';
