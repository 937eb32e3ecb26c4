/** For the host's own server: its token endpoint, and the two interfaces that take the environment token. */
export { AccessClient } from './server/access-client.ts';
export type { AccessClientOptions, AccessLocation, EditorTokenRecord } from './server/access-client.ts';
export type { Authorize, AuthorizeResult } from './server/authorization.ts';
export type { EnvironmentToken } from './server/environment-token.ts';
export { ExecutionClient } from './server/execution-client.ts';
export type { ExecutionClientOptions, ExecutionLocation } from './server/execution-client.ts';
export type { PluginTarget } from './server/plugin-target.ts';
export { toNodeHandler } from './server/to-node-handler.ts';
export type { NodeContext, NodeHandler } from './server/to-node-handler.ts';
export { createTokenEndpoint } from './server/token-endpoint.ts';
export type { Access, TokenEndpoint, TokenEndpointOptions } from './server/token-endpoint.ts';
export type { CallOptions } from './core/client/builder-client.ts';
export { HttpError, NetworkError, RequestError, SchemaError, TimeoutError } from './core/errors.ts';
export { joinIdent, parseIdent } from './core/ident.ts';
export type { Ident } from './core/ident.ts';
export type { SendOptions } from './core/request.ts';
