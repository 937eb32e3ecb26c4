/** Typed access to the builder interface, without any DOM: for browsers, workers and servers. */
export { BuilderClient } from './core/client/builder-client.ts';
export type {
  Build,
  BuildOptions,
  BuilderClientOptions,
  BusyOptions,
  CallMock,
  DeployOptions,
  Draft,
  DraftLocation,
  LanguageHelpRequest,
  SaveOptions,
  SourceLocation,
  SourceTestOptions,
  TenantLocation,
  TestOptions,
} from './core/client/builder-client.ts';
export { eachPage } from './core/client/pages.ts';
export type { Page, PageOptions, PluginListOptions, RunListOptions } from './core/client/pages.ts';
export type { CallOptions, ReplayOptions, RolloutTerms } from './core/client/plugin-client.ts';
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
  RecordedCall,
  Replay,
  ReplayResult,
  Rollout,
  RunPage,
  Sample,
  Session,
  StorageUsage,
  TestResult,
  VersionPage,
} from './core/client/records.ts';
export { buildEditorUrl, joinIdent, parseEditorUrl, parseIdent } from './core/url.ts';
export type { EditorAddress, Ident } from './core/url.ts';
export { HttpError, NetworkError, RequestError, SchemaError, TimeoutError } from './core/errors.ts';
export {
  editorTokenSchema,
  featuresSchema,
  languageSchema,
  pluginSourceSchema,
  pluginTestSchema,
} from './core/records.ts';
export type { Features, Language, PluginSource, PluginTest } from './core/records.ts';
export type { SendOptions } from './core/request.ts';
