import * as z from 'zod';
import { pluginTypes } from '../toolchains/types/declarations.ts';
import type { ServiceInterface } from './context.ts';
import { diagnosticSchema } from './diagnostics.ts';
import { requestInfo } from './request-info.ts';
import { requireLanguage } from './require-language.ts';
import { json } from './operations/responses.ts';
import { textBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { translateBusyErrors, translateSuperseded } from './run-errors.ts';
import { sourceLimit } from './source-limit.ts';
import { readDeclarations } from '../storage/tables/namespaces.ts';

const checked = z.object({ diagnostics: z.array(diagnosticSchema) }).meta({ id: 'Check' });

/**
 * What a build of a source would find, for an editor that checks as one types. Not part of the builder interface. Unlike a build,
 * it saves nothing, and nothing can be deployed by it.
 */
export const check: ServiceInterface = {
  operations: [
    operation({
      id: 'checkSource',
      method: 'POST',
      path: '/api/v1/check/:language/:identifier/:namespace/:pluginName',
      summary: 'Check a source',
      description: 'Finds what a build would find. Saves nothing, and nothing can be deployed from it.',
      tag: 'builder',
      auth: 'editor',
      permission: 'write',
      body: textBody({ description: 'The source.', limit: sourceLimit }),
      isQueued: true,
      responses: { 200: json(checked, { description: 'The errors and warnings.' }) },
      errors: { 409: ['check-superseded'], 429: ['too-many-requests'], 503: ['busy', 'cancelled'] },
      handle: async ({ c, path, target, caller, body }, context) => {
        const { identifier } = requireLanguage(context, path.language);
        const source = await body();
        const { owner } = caller;
        const subject = JSON.stringify([target.namespace, target.pluginName]);
        const found = await readDeclarations(context.storage.db, target);
        const job = {
          source,
          types: pluginTypes(found, await context.storage.runs.connections(target)),
          owner,
          subject,
          signal: c.req.raw.signal,
          onTurn: () => requestInfo(c).held?.checkUnsent(),
        };
        const outcome = await translateBusyErrors('user', () =>
          translateSuperseded('check-superseded', () => context.builds.check(identifier, job)),
        );
        const diagnostics =
          'failed' in outcome
            ? [{ line: 1, column: 1, message: outcome.failed, severity: 'error' as const }]
            : outcome.compiled.diagnostics;
        return { status: 200, body: { diagnostics } };
      },
    }),
  ],
};
