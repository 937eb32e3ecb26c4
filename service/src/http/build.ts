import type { Context } from 'hono';
import * as z from 'zod';
import type { EditorCaller } from './auth.ts';
import { boundedCompilation } from '../toolchains/build/bounded.ts';
import { programLimit } from '../toolchains/build/limits.ts';
import type { BuildOutcome } from '../toolchains/build/limits.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { allowedStorageOf } from './environment/tenant-details.ts';
import { diagnosticSchema } from './diagnostics.ts';
import { eventStream, wantsEventStream } from './event-stream.ts';
import { requestInfo } from './request-info.ts';
import { requireLanguage } from './require-language.ts';
import { json, respond } from './operations/responses.ts';
import { textBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { Program } from '../plugins/program.ts';
import { updateDraft } from './draft-saves.ts';
import { checkPreconditions } from './preconditions.ts';
import type { PluginSource } from '../plugins/records.ts';
import { translateBusyError } from './run-errors.ts';
import { typesForBuild } from './environment/compile-namespace.ts';
import { readDraft, readDraftState } from '../storage/tables/drafts.ts';
import type { DraftState } from '../storage/tables/drafts.ts';
import { buildDigestOf } from '../storage/tables/digest.ts';
import type { NamespaceTypes } from '../storage/tables/namespaces.ts';
import { measureLibraries, readLibraryContents } from '../storage/tables/libraries.ts';
import { pluginTypes } from '../toolchains/types/declarations.ts';
import { sourceLimit } from './source-limit.ts';
import { writeWithinQuota } from '../storage/tables/tenant-storage.ts';
import { saveBuild } from '../storage/tables/builds.ts';
import { packProgram } from '../storage/tables/programs.ts';
import { lockPlugin } from '../storage/db.ts';

const buildResult = z
  .object({
    succeeded: z.boolean(),
    outputLog: z.string().meta({ description: 'Everything that was logged, in lines.' }),
    diagnostics: z
      .array(diagnosticSchema)
      .optional()
      .meta({ description: 'The errors and warnings; missing if there are none.' }),
  })
  .meta({ id: 'BuildResult' });

/** The builder interface's builds. */
export const build: ServiceInterface = {
  features: ['stream_builds'],
  operations: [
    operation({
      id: 'buildDraft',
      method: 'POST',
      path: '/api/v1/build/:language/:identifier/:namespace/:pluginName',
      summary: 'Save and build a draft',
      description: 'Saves the source as the draft, even if it does not build. The tests of the draft stay.',
      tag: 'builder',
      auth: 'editor',
      permission: 'write',
      headers: ['if-match', 'if-none-match'],
      body: textBody({ description: 'The source.', limit: sourceLimit }),
      isQueued: true,
      responses: {
        200: json(buildResult, {
          description: 'How the build ended.',
          headers: ['etag'],
          events:
            'An event `log` for each line as it is written, and at the end one `result`, which is the response as JSON; or one `error`, `{ status, error }`, with the status and the body of an error, such as 403 `storage-full`.',
        }),
      },
      errors: {
        403: ['too-many-plugins', 'storage-full'],
        429: ['too-many-requests'],
        503: ['busy', 'cancelled'],
      },
      handle: async ({ c, path, target, caller, body }, context) => {
        const { identifier, pretty } = requireLanguage(context, path.language);
        const contents = await body();
        const draft = { lang: identifier, contents };
        const { etag, outcome } = await startBuild(c, context, { plugin: target, caller, draft });
        const title = `${target.pluginName}: building with ${pretty}`;
        if (!wantsEventStream(c)) {
          try {
            return respond(200, resultOf([title, ...linesOf(await outcome)], await outcome), { etag });
          } catch (error) {
            throw translateBusyError(error, 'user');
          }
        }
        c.header('etag', etag);
        return eventStream(c, async (send) => {
          await send('log', title);
          const lines = linesOf(await outcome);
          for (const line of lines) await send('log', line);
          await send('result', JSON.stringify(resultOf([title, ...lines], await outcome)));
        });
      },
    }),
  ],
};

interface BuildRequest {
  readonly plugin: PluginKey;
  readonly caller: EditorCaller;
  readonly draft: PluginSource;
}

/** Saves the draft and begins to build it. `outcome` resolves once the program was saved. */
async function startBuild(
  c: Context,
  context: ServiceContext,
  request: BuildRequest,
): Promise<{ etag: string; outcome: Promise<BuildOutcome> }> {
  const { plugin } = request;
  const { etag, buildDigest } = await saveSource(c, context, request);
  const { types, building } = await compileSource(c, context, request, wantsEventStream(c));
  const outcome = building.then((built) => {
    // Tests and runs probably follow, and a runner of Python takes long to come up.
    if ('compiled' in built && built.compiled.program?.kind === 'python') context.sandbox.warmUpPython();
    return keepProgram(context, plugin, { buildDigest, types }, built);
  });
  // A stream awaits the outcome only after the client has read its first event; until then a rejection would be unhandled.
  outcome.catch(() => {});
  return { etag, outcome };
}

/** Begins to build a source with the types and connections of its namespace. `isStreamed`: whether the response has begun. */
export async function compileSource(
  c: Context,
  context: ServiceContext,
  { plugin, caller, draft }: BuildRequest,
  isStreamed: boolean,
): Promise<{ types: NamespaceTypes; building: Promise<BuildOutcome> }> {
  try {
    const types = await typesForBuild(context, plugin, c.req.raw.signal);
    const building = context.builds.build(draft.lang, {
      source: draft.contents,
      types: pluginTypes(types, await context.storage.runs.connections(plugin)),
      owner: caller.owner,
      signal: c.req.raw.signal,
      // A stream has begun by the turn of its build, and counts each event while it is not taken.
      onTurn: isStreamed ? undefined : () => requestInfo(c).held?.checkUnsent(),
      // An editor that streams may come back, for instance after a reload, and should find its draft built.
      finishes: isStreamed,
    });
    const whole = building.then((built) => {
      context.recorder.countBuild(plugin);
      return withLibraries(context, plugin, types, built);
    });
    return { types, building: whole };
  } catch (error) {
    throw translateBusyError(error, 'user');
  }
}

/** The program that a build made, with the schemas it was built with, so that a version keeps them when those of its namespace change. */
export function programOf(outcome: BuildOutcome, { compiled: schemas }: NamespaceTypes): Program | undefined {
  const program = 'compiled' in outcome ? outcome.compiled.program : undefined;
  return program && schemas ? { ...program, types: schemas } : program;
}

/** Saves the draft as it is about to be built, and leaves its tests as they are. */
async function saveSource(
  c: Context,
  context: ServiceContext,
  { plugin, caller, draft: built }: BuildRequest,
): Promise<DraftState> {
  const { db } = context.storage;
  const current = await readDraftState(db, plugin);
  // The same text again is not a new revision, so that other tabs need not reload it.
  if (current && current.buildDigest === (await buildDigestOf(built))) {
    checkPreconditions(c, current.etag);
    return current;
  }
  const next = async (state: DraftState | undefined): Promise<PluginSource> => {
    checkPreconditions(c, state?.etag);
    const draft = state && (await readDraft(db, plugin));
    return { ...draft?.source, ...built };
  };
  return updateDraft(context, plugin, next, caller);
}

/** Takes the libraries that a program imports into it, so that a version stays what it is. */
async function withLibraries(
  { storage }: ServiceContext,
  { environment }: PluginKey,
  { libraryVersions }: NamespaceTypes,
  outcome: BuildOutcome,
): Promise<BuildOutcome> {
  if (!('compiled' in outcome)) return outcome;
  const { program, imports = [], diagnostics } = outcome.compiled;
  if (program?.kind !== 'script' || !imports.length) return outcome;
  const imported = Object.entries(libraryVersions).filter(([name]) => imports.includes(name));
  const versions = Object.fromEntries(imported);
  const sizes = await measureLibraries(storage.db, environment, versions);
  const bytes = sizes.reduce((sum, one) => sum + one.ofContents, 0);
  // Not read, because there may be a hundred of a mebibyte.
  if (bytes > programLimit) {
    const message = `The plugin is too large: the libraries that it imports have ${bytes} bytes, and the limit is ${programLimit}.`;
    return {
      compiled: boundedCompilation({
        diagnostics: [...diagnostics, { line: 1, column: 1, message, severity: 'error' }],
      }),
    };
  }
  const libraries = await readLibraryContents(storage.db, environment, versions);
  // The namespace may have got other libraries during the build.
  const gone = imports.find((name) => !Object.hasOwn(libraries, name));
  if (gone !== undefined) return { failed: `The library "${gone}" is no longer there; build again.` };
  return { compiled: boundedCompilation({ program: { ...program, libraries }, diagnostics }) };
}

/** Saves the program, unless the draft has changed meanwhile: the program of an older draft must not replace a newer one. */
async function keepProgram(
  context: ServiceContext,
  plugin: PluginKey,
  { buildDigest, types }: { readonly buildDigest: string; readonly types: NamespaceTypes },
  outcome: BuildOutcome,
): Promise<BuildOutcome> {
  const program = programOf(outcome, types);
  if (!program) return outcome;
  const { storage, now } = context;
  const allowed = await allowedStorageOf(context, plugin);
  const packed = await packProgram(storage.db, program);
  await storage.transaction(async (db) => {
    await lockPlugin(db, plugin);
    if ((await readDraftState(db, plugin))?.buildDigest !== buildDigest) return;
    await writeWithinQuota(db, plugin, allowed, () =>
      saveBuild(db, plugin, { program: packed, digest: buildDigest, digests: types, now: now() }),
    );
  }, plugin);
  return outcome;
}

const isSuccess = (outcome: BuildOutcome) => 'compiled' in outcome && outcome.compiled.program !== undefined;

/** Why a build has failed, in one line: what ended it, or the first error. */
export function failureOf(outcome: BuildOutcome): string {
  if ('failed' in outcome) return outcome.failed;
  const error = outcome.compiled.diagnostics.find(({ severity }) => severity === 'error');
  return error ? `${error.line}:${error.column} ${error.message.split('\n', 1)[0]}` : '';
}

/** The lines of a build's log, once it has ended. */
function linesOf(outcome: BuildOutcome): string[] {
  const found =
    'failed' in outcome
      ? [outcome.failed]
      : outcome.compiled.diagnostics.map(
          ({ line, column, severity, message }) => `${line}:${column} ${severity}: ${message}`,
        );
  const last = isSuccess(outcome) ? 'The build succeeded.' : 'The build failed.';
  return [...found, last].flatMap((text) => text.split(/\r\n?|\n/));
}

function resultOf(lines: readonly string[], outcome: BuildOutcome) {
  const diagnostics = 'compiled' in outcome ? outcome.compiled.diagnostics : [];
  return {
    succeeded: isSuccess(outcome),
    outputLog: lines.join('\n'),
    ...(diagnostics.length ? { diagnostics } : {}),
  };
}
