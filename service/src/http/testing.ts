import * as z from 'zod';
import { requireBuiltProgram } from './require-draft.ts';
import type { ServiceInterface } from './context.ts';
import { json } from './operations/responses.ts';
import { textBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { requestInfo } from './request-info.ts';
import { translateBusyErrors } from './run-errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { StoredProgram } from '../plugins/program.ts';
import type { Db } from '../storage/db.ts';
import { runErrorCodes } from '../sandbox/outcome.ts';
import { runLimits } from '../sandbox/run-limits.ts';

const tested = z
  .object({
    result: z
      .string()
      .optional()
      .meta({ description: 'The output of the plugin, as text: JSON where it was built with types.' }),
    error: z
      .object({
        code: z.enum(runErrorCodes),
        message: z.string(),
        path: z
          .string()
          .optional()
          .meta({ description: 'Where the input or output does not fit its schema, as a JSON Pointer.' }),
      })
      .optional()
      .meta({ description: 'Why there is no output.' }),
    logs: z.array(z.string()).optional().meta({ description: 'What it logged, an entry for each call.' }),
    took: z.number().min(0).meta({ description: 'How long the run alone took, in ms.' }),
  })
  .meta({ id: 'TestRun' });

/** The builder interface's test runs: the draft as it is saved, which has to be built. */
export const testing: ServiceInterface = {
  features: ['testing'],
  operations: [
    operation({
      id: 'testDraft',
      method: 'POST',
      path: '/api/v1/test/:identifier/:namespace/:pluginName',
      summary: 'Run a draft',
      description: 'The draft as it is saved, which has to have a successful build.',
      tag: 'builder',
      auth: 'editor',
      permission: 'write',
      body: textBody({
        description: 'What the plugin gets.',
        limit: runLimits.input,
        tooLarge: 'input-limit',
        example: 'Ada',
      }),
      isQueued: true,
      responses: { 200: json(tested, { description: 'How the run ended: with `result` or with `error`.' }) },
      errors: {
        404: ['draft-not-found'],
        409: ['not-built'],
        429: ['too-many-requests'],
        503: ['busy', 'cancelled'],
      },
      handle: async ({ c, target, caller, body }, { storage, sandbox }) => {
        // The input is read first, so that a client that sends it slowly does not keep a program in memory meanwhile.
        const input = await body();
        const program = await loadBuilt(storage.db, target);
        const run = {
          program,
          input,
          owner: caller.owner,
          signal: () => c.req.raw.signal,
          onTurn: () => requestInfo(c).held?.checkUnsent(),
        };
        const { outcome, took } = await translateBusyErrors(true, () => sandbox.runAndMeasure(run));
        const { logs, ...resultOrError } = outcome;
        return {
          status: 200,
          body: { ...resultOrError, ...(logs.length ? { logs } : {}), took: Math.round(took * 100) / 100 },
        };
      },
    }),
  ],
};

/** Loads the program of the draft into memory, because the next build may replace it while the test waits for its turn. */
async function loadBuilt(db: Db, plugin: PluginKey, attempts = 5): Promise<StoredProgram> {
  const { hash, isTyped, load } = await requireBuiltProgram(db, plugin);
  try {
    const program = await load();
    return { hash, isTyped, load: async () => program };
  } catch (error) {
    // The next build may have replaced the program after it was looked up.
    if (attempts === 1) throw error;
    return loadBuilt(db, plugin, attempts - 1);
  }
}
