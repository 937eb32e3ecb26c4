import type { Context } from 'hono';
import { pluginOfPath, requireEditorToken } from './auth.ts';
import { readJson } from './body.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { overwriteDraft, updateDraft } from './draft-saves.ts';
import { notFound, ServiceError } from './errors.ts';
import type { Language } from '../toolchains/language.ts';
import { checkPreconditions, hasPreconditions, isNotModified } from './preconditions.ts';
import { InvalidRecordError, readSource } from '../plugins/records.ts';
import type { PluginSource } from '../plugins/records.ts';
import { requestInfo } from './request-info.ts';
import { pathParameter, route } from './routes.ts';

/** The largest body of a plugin's source record, in bytes. */
export const sourceLimit = 1024 * 1024;

/** The builder interface: features, templates, and drafts to read and to save. */
export const builder: ServiceInterface = {
  routes(app, context) {
    route(app, '/api/v1/features', {
      GET: async (c) => {
        await context.limits.takeAddress(c);
        return c.json({
          features: context.features,
          languages: [...context.languages.values()].map(({ identifier, pretty, short }) => ({
            identifier,
            pretty,
            short,
          })),
        });
      },
    });

    route(app, '/api/v1/template/:language', {
      GET: async (c) => {
        await context.limits.takeAddress(c);
        return c.json(languageOfPath(c, context).template({ pluginName: 'my-plugin', namespace: 'default' }));
      },
    });

    route(app, '/api/v2/template/:language/:pluginName', {
      GET: async (c) => {
        await context.limits.takeAddress(c);
        const namespace = c.req.query('namespace') || 'default';
        return c.json(
          languageOfPath(c, context).template({ pluginName: pathParameter(c, 'pluginName'), namespace }),
        );
      },
    });

    route(app, '/api/v1/draft/:identifier/:namespace/:pluginName', {
      GET: (c) => readDraft(c, context),
      POST: (c) => saveDraft(c, context),
    });
  },
};

async function readDraft(c: Context, context: ServiceContext): Promise<Response> {
  const plugin = pluginOfPath(c);
  await requireEditorToken(c, context, plugin, 'read');
  const draft = await context.storage.tables.drafts.find(plugin);
  if (!draft)
    throw notFound('draft-not-found', 'This plugin has no draft yet; save one, or start from a template.');
  c.header('etag', draft.etag);
  return isNotModified(c, draft.etag) ? c.body(null, 304) : c.json(draft.source);
}

async function saveDraft(c: Context, context: ServiceContext): Promise<Response> {
  const plugin = pluginOfPath(c);
  await requireEditorToken(c, context, plugin, 'write');
  const source = checkSource(await readJson(c, sourceLimit), context);
  const { actor } = requestInfo(c);
  const draft = hasPreconditions(c)
    ? await updateDraft(
        context,
        plugin,
        (current) => {
          checkPreconditions(c, current?.etag);
          return source;
        },
        actor,
      )
    : await overwriteDraft(context, plugin, source, actor);
  return c.json(draft.source, 200, { etag: draft.etag });
}

function checkSource(value: unknown, { languages }: ServiceContext): PluginSource {
  const source = sourceOf(value);
  if (!languages.has(source.lang)) {
    throw new ServiceError(
      422,
      'unknown-language',
      `lang: must be one of ${[...languages.keys()].join(', ')}.`,
    );
  }
  return source;
}

function sourceOf(value: unknown): PluginSource {
  try {
    return readSource(value);
  } catch (error) {
    if (error instanceof InvalidRecordError) throw new ServiceError(422, 'invalid-record', error.message);
    throw error;
  }
}

/** The toolchain that the path's `:language` names. Throws 404 when there is none. */
export function languageOfPath(c: Context, { languages }: ServiceContext): Language {
  const language = languages.get(pathParameter(c, 'language'));
  if (!language) {
    throw notFound(
      'unknown-language',
      `There is no such language; there are: ${[...languages.keys()].join(', ')}.`,
    );
  }
  return language;
}
