/** For the host's own server: its token endpoint, and the interfaces that take the environment token. */
export { AccessClient } from './server/access-client.ts';
export type { AccessClientOptions, AccessLocation, EditorTokenRecord } from './server/access-client.ts';
export type { Authorization, Authorize, AuthorizeResult } from './server/authorization.ts';
export { EnvironmentClient } from './server/environment-client.ts';
export type {
  EnvironmentClientOptions,
  EnvironmentLocation,
  IdentifierLocation,
  NamespaceLocation,
  PluginLocation,
  WebhookLocation,
} from './server/environment-client.ts';
export type {
  AuditOptions,
  EnvironmentCallOptions,
  Scope,
  TenantDetails,
  TokenDetails,
  UsageOptions,
} from './server/environment-client.ts';
export type {
  AuditEntry,
  AuditPage,
  CreatedSession,
  CreatedToken,
  EnvironmentTokenRecord,
  EnvironmentTokens,
  Namespace,
  NamespacePage,
  Tenant,
  TenantPage,
  UsageDay,
  UsagePage,
} from './server/environment-records.ts';
export type {
  ConnectionLocation,
  ConnectionOwner,
  ConnectionValue,
  ConnectionValuePage,
  NamespaceConnection,
  NamespaceDetails,
} from './server/connection-records.ts';
export type {
  Library,
  LibraryDetails,
  LibraryLocation,
  LibraryPage,
  LibraryRecord,
} from './server/library-records.ts';
export type {
  CreatedWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookDetails,
  WebhookPage,
  WebhookSecret,
} from './server/webhook-records.ts';
export type { EnvironmentToken } from './server/environment-token.ts';
export { ExecutionClient } from './server/execution-client.ts';
export type {
  ExecutionClientOptions,
  ExecutionLocation,
  RunDetails,
  RunOptions,
} from './server/execution-client.ts';
export type { NodeRequest, NodeResponse } from './server/node-types.ts';
export type { Grant, Permission } from './server/permissions.ts';
export type { PluginTarget } from './server/plugin-target.ts';
export { RunError } from './server/run-error.ts';
export type { SessionRequest, SessionTerms } from './server/session-request.ts';
export { toNodeHandler } from './server/to-node-handler.ts';
export type { NodeContext, NodeHandler } from './server/to-node-handler.ts';
export { createTokenEndpoint } from './server/token-endpoint.ts';
export type { Access, TokenEndpoint, TokenEndpointOptions } from './server/token-endpoint.ts';
export type { CallOptions, ReplayOptions, RolloutTerms } from './core/client/plugin-client.ts';
export { eachPage } from './core/client/pages.ts';
export type { Page } from './core/client/pages.ts';
export type { PageOptions, PluginListOptions, RunListOptions } from './core/client/pages.ts';
export type {
  Plugin,
  PluginPage,
  PluginRun,
  PluginTypes,
  PluginVersion,
  PluginVersionSource,
  Replay,
  ReplayResult,
  Rollout,
  RunPage,
  Sample,
  Session,
  StorageUsage,
  VersionPage,
} from './core/client/records.ts';
export { HttpError, NetworkError, RequestError, SchemaError, TimeoutError } from './core/errors.ts';
export { joinIdent, parseIdent } from './core/url.ts';
export type { Ident } from './core/url.ts';
export type { SendOptions } from './core/request.ts';
