import type { Context } from 'hono';
import { pluginOfPath, requireEditorToken } from './auth.ts';
import { readPlainText } from './body.ts';
import type { BuildEnd } from '../toolchains/build/limits.ts';
import { languageOfPath, sourceLimit } from './builder.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { eventStream, wantsEventStream } from './event-stream.ts';
import type { Diagnostic } from '../toolchains/language.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { updateDraft } from './draft-saves.ts';
import { checkPreconditions } from './preconditions.ts';
import type { PluginSource } from '../plugins/records.ts';
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
  const share = await requireEditorToken(c, context, plugin);
  const contents = await readPlainText(c, sourceLimit);
  const { source, etag } = await saveSource(c, context, plugin, { lang, contents });
  let building: Promise<BuildEnd>;
  try {
    building = context.builds.build(lang, {
      source: contents,
      share,
      signal: c.req.raw.signal,
      // An editor that streams comes back, after a reload for instance, and finds its draft built.
      finishes: wantsEventStream(c),
    });
  } catch (error) {
    throw busyAnswer(error, true);
  }
  const kept = building.then((end) => {
    context.recorder.countBuild(plugin);
    return keepProgram(context, plugin, source, end);
  });
  // Whoever waits for it is told; but a client that does not read its log keeps nobody waiting for it yet.
  kept.catch(() => {});
  const title = `${plugin.pluginName}: building with ${pretty}`;
  c.header('etag', etag);
  if (!wantsEventStream(c)) {
    try {
      return c.json(resultOf([title, ...linesOf(await kept)], await kept));
    } catch (error) {
      throw busyAnswer(error, true);
    }
  }
  return eventStream(c, async (send) => {
    await send('log', title);
    const end = await kept;
    const lines = linesOf(end);
    for (const line of lines) await send('log', line);
    await send('result', JSON.stringify(resultOf([title, ...lines], end)));
  });
}

/** Saves the draft as it is about to be built, and leaves its tests as they are. */
function saveSource(c: Context, context: ServiceContext, plugin: PluginKey, built: PluginSource) {
  return updateDraft(context, plugin, (current) => {
    checkPreconditions(c, current?.etag);
    // The same text again is no change: other tabs need not hear of it.
    if (current && current.source.lang === built.lang && current.source.contents === built.contents)
      return current.source;
    return { ...current?.source, ...built };
  });
}

/** Keeps what was built, unless the draft is another by now: what was overtaken must not take the place of that. */
async function keepProgram(
  { storage, now }: ServiceContext,
  plugin: PluginKey,
  source: PluginSource,
  end: BuildEnd,
): Promise<BuildEnd> {
  const program = 'compiled' in end ? end.compiled.program : undefined;
  if (!program) return end;
  await storage.transaction(async ({ drafts, builds, lockPlugin }) => {
    await lockPlugin(plugin);
    const draft = (await drafts.find(plugin))?.source;
    if (draft?.lang === source.lang && draft.contents === source.contents) {
      await builds.save(plugin, source, program, now());
    }
  });
  return end;
}

const succeeded = (end: BuildEnd) => 'compiled' in end && end.compiled.program !== undefined;

/** What a build logs once it has ended. */
function linesOf(end: BuildEnd): string[] {
  const found =
    'failed' in end
      ? [end.failed]
      : end.compiled.diagnostics.map(
          ({ line, column, severity, message }) => `${line}:${column} ${severity}: ${message}`,
        );
  const last = succeeded(end) ? 'The build succeeded.' : 'The build failed.';
  return [...found, last].flatMap((text) => text.split(/\r\n?|\n/));
}

function resultOf(lines: readonly string[], end: BuildEnd): BuildResult {
  const diagnostics = 'compiled' in end ? end.compiled.diagnostics : [];
  return {
    succeeded: succeeded(end),
    outputLog: lines.join('\n'),
    ...(diagnostics.length ? { diagnostics } : {}),
  };
}
