/** Typed access to the builder interface, without any DOM: for browsers, workers and servers. */
export { BuilderClient } from './core/client/builder-client.ts';
export type {
  BuildOptions,
  BuilderClientOptions,
  DeployOptions,
  Draft,
  SaveOptions,
} from './core/client/builder-client.ts';
export type { BuildResult, Deployment, TestResult } from './core/client/draft-records.ts';
export { eachPage } from './core/client/each-page.ts';
export type { Page } from './core/client/each-page.ts';
export type { DraftLocation, TenantLocation } from './core/client/location.ts';
export type { CallOptions } from './core/client/plugin-client.ts';
export type { PageOptions, PluginListOptions, RunListOptions } from './core/client/list-options.ts';
export type {
  Plugin,
  PluginPage,
  PluginRun,
  PluginTypes,
  PluginVersion,
  PluginVersionSource,
  RunPage,
  Session,
  VersionPage,
} from './core/client/plugin-records.ts';
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
