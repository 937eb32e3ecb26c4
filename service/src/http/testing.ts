import * as z from 'zod';
import { builtProgram } from './built-draft.ts';
import type { ServiceInterface } from './context.ts';
import { json } from './operations/answers.ts';
import { textBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { whenNotBusy } from './run-errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { StoredProgram } from '../plugins/program.ts';
import type { Tables } from '../storage/tables.ts';
import { runErrorCodes, runLimits } from '../sandbox/outcome.ts';

const tested = z
  .object({
    result: z
      .string()
      .optional()
      .meta({ description: 'What the plugin answered, as text: JSON where it was built with types.' }),
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
      .meta({ description: 'Why it did not answer.' }),
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
      answers: { 200: json(tested, { description: 'How the run ended: with `result` or with `error`.' }) },
      errors: {
        404: ['draft-not-found'],
        409: ['not-built'],
        429: ['too-many-requests'],
        503: ['busy', 'cancelled'],
      },
      handle: async ({ c, target, caller, body }, { storage, sandbox }) => {
        // First the input: who sends headers and then nothing must not have a program kept in memory for it.
        const input = await body();
        const program = await loadBuilt(storage.tables, target);
        const run = { program, input, share: caller.share, signal: () => c.req.raw.signal };
        const { outcome, took } = await whenNotBusy(true, () => sandbox.runAndMeasure(run));
        const { logs, ...end } = outcome;
        return {
          status: 200,
          body: { ...end, ...(logs.length ? { logs } : {}), took: Math.round(took * 100) / 100 },
        };
      },
    }),
  ],
};

/** What the draft was built to, in memory: the next build may take its place while the test waits for its turn. */
async function loadBuilt(tables: Tables, plugin: PluginKey, attempts = 5): Promise<StoredProgram> {
  const { hash, isTyped, load } = await builtProgram(tables, plugin);
  try {
    const program = await load();
    return { hash, isTyped, load: async () => program };
  } catch (error) {
    // The next build may have taken its place between the two.
    if (attempts === 1) throw error;
    return loadBuilt(tables, plugin, attempts - 1);
  }
}
