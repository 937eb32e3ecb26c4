/** Typed access to the builder interface, without any DOM: for browsers, workers and servers. */
export { BuilderClient } from './core/client/builder-client.ts';
export type {
  Build,
  BuildOptions,
  BuilderClientOptions,
  BusyOptions,
  DeployOptions,
  Draft,
  DraftLocation,
  LanguageHelpRequest,
  SaveOptions,
  SourceLocation,
  TenantLocation,
} from './core/client/builder-client.ts';
export { eachPage } from './core/client/pages.ts';
export type { Page, PageOptions, PluginListOptions, RunListOptions } from './core/client/pages.ts';
export type { CallOptions } from './core/client/plugin-client.ts';
export type {
  BuildResult,
  CheckResult,
  Deployment,
  Diagnostic,
  LanguageHelp,
  Plugin,
  PluginPage,
  PluginRun,
  PluginTypes,
  PluginVersion,
  PluginVersionSource,
  Progress,
  RunPage,
  Sample,
  Session,
  StorageUsage,
  TestResult,
  VersionPage,
} from './core/client/records.ts';
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
