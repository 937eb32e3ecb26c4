import type { Context } from 'hono';
import { pluginOfPath, requireEditorToken } from './auth.ts';
import { readPlainText } from './body.ts';
import type { BuildEnd } from './build/limits.ts';
import { languageOfPath, sourceLimit } from './builder.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { eventStream, wantsEventStream } from './event-stream.ts';
import type { Diagnostic } from './language.ts';
import type { PluginKey } from './plugin-key.ts';
import { checkPreconditions } from './preconditions.ts';
import type { PluginSource } from './records.ts';
import { route } from './routes.ts';
import { busyAnswer } from './run-errors.ts';

/** What a build answers. */
interface BuildResult {
  succeeded: boolean;
  /** All that was logged, a line each. */
  outputLog: string;
  /** Nothing when there is none. */
  diagnostics?: readonly Diagnostic[];
}

/** The builder interface's builds. */
export const build: ServiceInterface = {
  features: ['stream_builds'],
  routes(app, context) {
    route(app, '/api/v1/build/:language/:identifier/:namespace/:pluginName', {
      POST: (c) => buildDraft(c, context),
    });
  },
};

async function buildDraft(c: Context, context: ServiceContext): Promise<Response> {
  const { identifier: lang, pretty } = languageOfPath(c, context);
  const plugin = pluginOfPath(c);
  requireEditorToken(c, context, plugin);
  const contents = await readPlainText(c, sourceLimit);
  const { source, etag } = saveSource(c, context, plugin, { lang, contents });
  let building: Promise<BuildEnd>;
  try {
    building = context.builds.build(lang, {
      source: contents,
      tenant: `${plugin.environment}.${plugin.tenant}`,
    });
  } catch (error) {
    throw busyAnswer(error, true);
  }
  const result = (log: (line: string) => void) =>
    finish(context, plugin, source, building, `${plugin.pluginName}: building with ${pretty}`, log);
  c.header('etag', etag);
  if (!wantsEventStream(c)) return c.json(await result(() => {}));
  return eventStream(c, async (send) => {
    send('result', JSON.stringify(await result((line) => send('log', line))));
  });
}

/** Saves the draft as it is about to be built, and leaves its tests as they are. */
function saveSource(c: Context, { store, now }: ServiceContext, plugin: PluginKey, built: PluginSource) {
  return store.transaction(() => {
    const current = store.drafts.find(plugin);
    checkPreconditions(c, current?.etag);
    // The same text again is no change: other tabs need not hear of it.
    if (current && current.source.lang === built.lang && current.source.contents === built.contents)
      return current;
    return store.drafts.saveWithin(plugin, { ...current?.source, ...built }, now());
  });
}

async function finish(
  { store, now }: ServiceContext,
  plugin: PluginKey,
  source: PluginSource,
  building: Promise<BuildEnd>,
  title: string,
  log: (line: string) => void,
): Promise<BuildResult> {
  const lines: string[] = [];
  const write = (text: string) => {
    for (const line of text.split(/\r\n?|\n/)) {
      lines.push(line);
      log(line);
    }
  };
  write(title);
  const end = await building;
  const compilation = 'compiled' in end ? end.compiled : undefined;
  const { program, diagnostics = [] } = compilation ?? {};
  if ('failed' in end) write(end.failed);
  for (const { line, column, severity, message } of diagnostics)
    write(`${line}:${column} ${severity}: ${message}`);
  if (program) {
    // A build that was overtaken must not take the place of what the draft is now.
    store.transaction(() => {
      const draft = store.drafts.find(plugin)?.source;
      if (draft?.lang === source.lang && draft.contents === source.contents) {
        store.builds.save(plugin, source, program, now());
      }
    });
  }
  write(program ? 'The build succeeded.' : 'The build failed.');
  return {
    succeeded: program !== undefined,
    outputLog: lines.join('\n'),
    ...(diagnostics.length ? { diagnostics } : {}),
  };
}
