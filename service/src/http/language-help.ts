import type { Context } from 'hono';
import * as z from 'zod';
import { pluginOfPath, requireEditorToken } from './auth.ts';
import { readJson } from './body.ts';
import { languageOfPath, sourceLimit } from './builder.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { notFound, ServiceError } from './errors.ts';
import { route } from './routes.ts';
import { whenNotBusy } from './run-errors.ts';
import { isHelpedLanguage } from '../toolchains/language-help/language-help.ts';
import { helpLimits } from '../toolchains/language-help/limits.ts';
import { helpRequest } from '../toolchains/language-help/requests.ts';
import { SupersededError } from '../toolchains/process/superseded.ts';

/** A request of language help: the source as it is now, and what is asked of it. */
const helpBody = z.object({ contents: z.string(), request: helpRequest });

/**
 * Help with writing a plugin, for an editor: requests of the Language Server Protocol, each with the whole source, so that any
 * node can answer it. Not of the interface. Answers `{ result }`, or 409 `help-superseded` when the same token asked the same of
 * the plugin again before this one had begun. What the source keeps from being answered is 422 `help-failed`.
 */
export const languageHelp: ServiceInterface = {
  routes(app, context) {
    route(app, '/api/v1/language-help/:language/:identifier/:namespace/:pluginName', {
      POST: (c) => answerHelp(c, context),
    });
  },
};

async function answerHelp(c: Context, context: ServiceContext): Promise<Response> {
  const { identifier: language } = languageOfPath(c, context);
  if (!isHelpedLanguage(language)) {
    throw notFound(
      'no-language-help',
      'There is no help with this language; with JavaScript and TypeScript there is.',
    );
  }
  const plugin = pluginOfPath(c);
  const share = await requireEditorToken(c, context, plugin);
  const { contents, request } = readBody(await readJson(c, sourceLimit));
  const { signal } = c.req.raw;
  const subject = JSON.stringify([plugin.namespace, plugin.pluginName]);
  const end = await whenNotBusy(true, async () => {
    try {
      return await context.languageHelp.help({ language, contents, request, share, subject, signal });
    } catch (error) {
      if (error instanceof SupersededError) throw new ServiceError(409, 'help-superseded', error.message);
      throw error;
    }
  });
  if ('failed' in end) throw new ServiceError(422, 'help-failed', end.failed);
  return c.json({ result: end.result });
}

function readBody(value: unknown) {
  const { data, error } = helpBody.safeParse(value);
  if (error) {
    const [issue] = error.issues;
    throw new ServiceError(422, 'invalid-record', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
  }
  if (data.contents.length > helpLimits.source) {
    const most = helpLimits.source;
    throw new ServiceError(413, 'too-large', `There is help with sources of up to ${most} characters.`);
  }
  return data;
}
