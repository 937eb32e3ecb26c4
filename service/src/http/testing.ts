import type { Context } from 'hono';
import { pluginOfPath, requireEditorToken } from './auth.ts';
import { readPlainText } from './body.ts';
import { builtProgram } from './built-draft.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { route } from './routes.ts';
import { whenNotBusy } from './run-errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { StoredProgram } from '../plugins/program.ts';
import type { Tables } from '../storage/tables.ts';
import { runLimits } from '../sandbox/outcome.ts';

/** The builder interface's test runs: the draft as it is saved, which has to be built. */
export const testing: ServiceInterface = {
  features: ['testing'],
  routes(app, context) {
    route(app, '/api/v1/test/:identifier/:namespace/:pluginName', { POST: (c) => testDraft(c, context) });
  },
};

async function testDraft(c: Context, context: ServiceContext): Promise<Response> {
  const plugin = pluginOfPath(c);
  const share = await requireEditorToken(c, context, plugin, 'write');
  // First the input: who sends headers and then nothing must not have a program kept in memory for it.
  const input = await readPlainText(c, runLimits.input, 'input-limit');
  const program = await loadBuilt(context.storage.tables, plugin);
  const run = {
    program,
    input,
    share,
    signal: () => c.req.raw.signal,
  };
  const { logs, ...end } = await whenNotBusy(true, () => context.sandbox.run(run));
  return c.json({ ...end, ...(logs.length ? { logs } : {}) });
}

/** What the draft was built to, in memory: the next build may take its place while the test waits for its turn. */
async function loadBuilt(tables: Tables, plugin: PluginKey, attempts = 5): Promise<StoredProgram> {
  const { hash, load } = await builtProgram(tables, plugin);
  try {
    const program = await load();
    return { hash, load: async () => program };
  } catch (error) {
    // The next build may have taken its place between the two.
    if (attempts === 1) throw error;
    return loadBuilt(tables, plugin, attempts - 1);
  }
}
