import { checkSegment } from '../address.ts';
import { type Features, type PluginSource, featuresSchema, pluginSourceSchema } from '../records.ts';
import {
  type BuildResult,
  type Deployment,
  type TestResult,
  buildResultSchema,
  deploymentSchema,
  testResultSchema,
} from './draft-records.ts';
import { type Operation, type Segments, checkText, pathOf, queryOf } from './operation.ts';

// The operations that need an editor token, or none. Each function describes a request, and sends nothing.

export const getTemplate = (language: string): Operation<PluginSource> => ({
  isPublic: true,
  path: pathOf('v1/template', { language }),
  schema: pluginSourceSchema,
});

export const getTemplateV2 = (
  language: string,
  pluginName: string,
  namespace: string | undefined,
): Operation<PluginSource> => ({
  isPublic: true,
  path:
    pathOf('v2/template', { language, pluginName }) +
    queryOf({ namespace: namespace ? checkSegment('namespace', namespace) : undefined }),
  schema: pluginSourceSchema,
});

export const getFeatures = (): Operation<Features> => ({
  isPublic: true,
  path: pathOf('v1/features'),
  schema: featuresSchema,
});

/** @param plugin three segments: ident, namespace and name */
export const readDraft = (plugin: Segments): Operation<PluginSource> => ({
  path: pathOf('v1/draft', plugin),
  schema: pluginSourceSchema,
});

/** @param etag the tag that the draft must have; `null`: there must be no draft yet */
export const saveDraft = (
  plugin: Segments,
  source: PluginSource,
  etag: string | null | undefined,
): Operation<PluginSource> => ({
  method: 'POST',
  path: pathOf('v1/draft', plugin),
  json: source,
  headers: etag === null ? { 'if-none-match': '*' } : ifMatch(etag),
  schema: pluginSourceSchema,
});

export const build = (language: string, plugin: Segments, source: string): Operation<BuildResult> => ({
  method: 'POST',
  path: pathOf('v1/build', { language, ...plugin }),
  text: checkText('source', source),
  schema: buildResultSchema,
});

export const test = (plugin: Segments, payload: string): Operation<TestResult> => ({
  method: 'POST',
  path: pathOf('v1/test', plugin),
  text: checkText('payload', payload),
  schema: testResultSchema,
});

export const deploy = (
  plugin: Segments,
  message: string | undefined,
  etag: string | undefined,
): Operation<Deployment> => ({
  method: 'POST',
  path: pathOf('v1/draft', plugin, 'promote'),
  json: message === undefined ? undefined : { message },
  headers: ifMatch(etag),
  schema: deploymentSchema,
});

/** @throws TypeError for anything but an entity tag. Without the condition, the write could replace any draft. */
function ifMatch(etag: string | undefined): Record<string, string> {
  if (etag === undefined) return {};
  if (!/^(?:W\/)?"[!#-~]*"$/.test(etag)) {
    throw new TypeError('etag must be as a response had it, with its quotes');
  }
  return { 'if-match': etag };
}
