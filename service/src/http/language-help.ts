import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { notFound, ServiceError } from './errors.ts';
import { requestInfo } from './request-info.ts';
import { requireLanguage } from './require-language.ts';
import { json } from './operations/responses.ts';
import { jsonBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { translateBusyErrors, translateSuperseded } from './run-errors.ts';
import { sourceLimit } from './source-limit.ts';
import { isHelpedLanguage } from '../toolchains/language-help/language-help.ts';
import { helpLimits } from '../toolchains/language-help/limits.ts';
import { helpRequest, helpResults } from '../toolchains/language-help/requests.ts';
import { pluginTypes } from '../toolchains/types/declarations.ts';
import { readDeclarations } from '../storage/tables/namespaces.ts';

const helpBody = z
  .object({
    contents: z.string().meta({ description: 'The whole source as it is now.' }),
    request: helpRequest.meta({
      description: 'A method of the Language Server Protocol, and its parameters without `textDocument`.',
    }),
  })
  .meta({ id: 'LanguageHelpRequest' });

const helpResponse = z
  .object({
    result: z
      .union([...new Set(Object.values(helpResults))])
      .meta({ description: 'What the Language Server Protocol defines as the result of the method.' }),
  })
  .meta({ id: 'LanguageHelp' });

/** Help with writing a plugin, for an editor. Not part of the builder interface. */
export const languageHelp: ServiceInterface = {
  operations: [
    operation({
      id: 'helpWithSource',
      method: 'POST',
      path: '/api/v1/language-help/:language/:identifier/:namespace/:pluginName',
      summary: 'Help with writing a source',
      description:
        'Completion, hover, signatures, definitions, renaming, quick fixes and formatting for JavaScript and TypeScript, as in the Language Server Protocol. Each request has the whole source, so that any node can answer it.',
      tag: 'builder',
      auth: 'editor',
      permission: 'read',
      body: jsonBody(helpBody, {
        description: 'The source, and a method with its parameters.',
        limit: sourceLimit,
      }),
      isQueued: true,
      responses: { 200: json(helpResponse, { description: 'The help.' }) },
      errors: {
        404: ['no-language-help'],
        409: ['help-superseded'],
        413: ['too-large'],
        422: ['help-failed'],
        429: ['too-many-requests'],
        503: ['busy', 'cancelled'],
      },
      handle: async ({ c, path, target, caller, body: { contents, request } }, context) => {
        const { identifier: language } = requireLanguage(context, path.language);
        if (!isHelpedLanguage(language)) {
          throw notFound(
            'no-language-help',
            'There is no help with this language; with JavaScript and TypeScript there is.',
          );
        }
        if (contents.length > helpLimits.source) {
          const max = helpLimits.source;
          throw new ServiceError(413, 'too-large', `There is help with sources of up to ${max} characters.`);
        }
        const { owner } = caller;
        const subject = JSON.stringify([target.namespace, target.pluginName]);
        const found = await readDeclarations(context.storage.db, target);
        const types = pluginTypes(found, await context.storage.runs.connections(target));
        const { signal } = c.req.raw;
        const onTurn = () => requestInfo(c).held?.checkUnsent();
        const job = { language, contents, types, request, owner, subject, signal, onTurn };
        const outcome = await translateBusyErrors('user', () =>
          translateSuperseded('help-superseded', () => context.languageHelp.help(job)),
        );
        if ('failed' in outcome) throw new ServiceError(422, 'help-failed', outcome.failed);
        return { status: 200, body: { result: outcome.result } };
      },
    }),
  ],
};
