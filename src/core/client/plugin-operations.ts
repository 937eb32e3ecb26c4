import { checkSegment } from '../address.ts';
import type { PageOptions, PluginListOptions, RunListOptions } from './list-options.ts';
import { type Operation, type Segments, pathOf, queryOf } from './operation.ts';
import {
  type Plugin,
  type PluginPage,
  type PluginRun,
  type PluginTypes,
  type PluginVersionSource,
  type RunPage,
  type Session,
  type VersionPage,
  pluginPageSchema,
  pluginSchema,
  pluginTypesSchema,
  runPageSchema,
  runSchema,
  sessionSchema,
  versionPageSchema,
  versionSourceSchema,
} from './plugin-records.ts';

// The operations that take an editor token as well as an environment token. Each function describes a request, and sends
// nothing.

/** @param tenant one segment, the ident */
export const listPlugins = (tenant: Segments, options: PluginListOptions): Operation<PluginPage> => ({
  path: pathOf('v1/tenant', tenant, 'plugins') + queryOf(options),
  schema: pluginPageSchema,
});

/** @param plugin three segments: ident, namespace and name */
export const getPlugin = (plugin: Segments): Operation<Plugin> => ({
  path: pathOf('v1/plugin', plugin),
  schema: pluginSchema,
});

export const listVersions = (plugin: Segments, options: PageOptions): Operation<VersionPage> => ({
  path: pathOf('v1/plugin', plugin, 'versions') + queryOf(options),
  schema: versionPageSchema,
});

export const getVersion = (plugin: Segments, version: string): Operation<PluginVersionSource> => ({
  path: pathOf('v1/plugin', plugin, 'versions', { version }),
  schema: versionSourceSchema,
});

/** @throws TypeError for a version that is neither `null` nor text. A missing one must not come to mean the newest. */
export const setLive = (plugin: Segments, version: string | null): Operation<Plugin> => ({
  method: 'PUT',
  path: pathOf('v1/plugin', plugin, 'live'),
  json: { version: version === null ? version : checkSegment('version', version) },
  schema: pluginSchema,
});

export const listRuns = (plugin: Segments, options: RunListOptions): Operation<RunPage> => ({
  path: pathOf('v1/plugin', plugin, 'runs') + queryOf(options),
  schema: runPageSchema,
});

export const getRun = (uuid: string): Operation<PluginRun> => ({
  path: pathOf('v1/run', { uuid }),
  schema: runSchema,
});

export const getTypes = (plugin: Segments): Operation<PluginTypes> => ({
  path: pathOf('v1/types', plugin),
  schema: pluginTypesSchema,
});

export const getSession = (): Operation<Session> => ({ path: pathOf('v1/session'), schema: sessionSchema });

export const endSession = (): Operation => ({ method: 'DELETE', path: pathOf('v1/session') });
