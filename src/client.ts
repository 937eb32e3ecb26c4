/** Typed access to the builder interface, without any DOM: for browsers, workers and servers. */
export { BuilderClient } from './core/builder-client.ts';
export type { BuilderClientOptions, CallOptions, DraftLocation } from './core/builder-client.ts';
export { buildEditorUrl, parseEditorUrl } from './core/editor-url.ts';
export type { EditorAddress } from './core/editor-url.ts';
export { HttpError, NetworkError, RequestError, SchemaError, TimeoutError } from './core/errors.ts';
export { joinIdent, parseIdent } from './core/ident.ts';
export type { Ident } from './core/ident.ts';
export {
  editorTokenSchema,
  featuresSchema,
  languageSchema,
  pluginSourceSchema,
  pluginTestSchema,
} from './core/records.ts';
export type { Features, Language, PluginSource, PluginTest } from './core/records.ts';
export type { SendOptions } from './core/request.ts';
