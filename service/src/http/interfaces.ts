import { openApi } from './openapi.ts';
import { access } from './access.ts';
import { audit } from './environment/audit.ts';
import { build } from './build.ts';
import { builder } from './builder.ts';
import { check } from './check.ts';
import type { ServiceInterface } from './context.ts';
import { deploy } from './deploy.ts';
import { connections } from './environment/connections.ts';
import { environmentTokens } from './environment/environment-tokens.ts';
import { libraries } from './environment/libraries.ts';
import { namespaces } from './environment/namespaces.ts';
import { functions } from './environment/functions.ts';
import { plugins } from './environment/plugins.ts';
import { rollouts } from './environment/rollouts.ts';
import { sessions } from './environment/sessions.ts';
import { tenants } from './environment/tenants.ts';
import { versions } from './environment/versions.ts';
import { execution } from './execution.ts';
import { environmentResults } from './runs/results.ts';
import { replay } from './runs/replay.ts';
import { runs } from './runs/runs.ts';
import { usage } from './runs/usage.ts';
import { languageHelp } from './language-help.ts';
import { mcp } from './mcp/mcp.ts';
import { progress } from './progress.ts';
import { templates } from './templates.ts';
import { types } from './types.ts';
import { testing } from './testing.ts';
import { webhooks } from './environment/webhooks.ts';

/** All interfaces of the service but `health`, which `app.ts` adds before the middleware that may refuse a request. */
export const interfaces: readonly ServiceInterface[] = [
  openApi,
  builder,
  templates,
  build,
  check,
  languageHelp,
  testing,
  deploy,
  progress,
  access,
  execution,
  runs,
  replay,
  usage,
  environmentResults,
  audit,
  tenants,
  sessions,
  environmentTokens,
  plugins,
  versions,
  rollouts,
  functions,
  namespaces,
  libraries,
  connections,
  types,
  webhooks,
  mcp,
];
