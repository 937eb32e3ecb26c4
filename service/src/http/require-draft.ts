import { notFound, ServiceError } from './errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { readDraft, readDraftState } from '../storage/tables/drafts.ts';
import type { Draft } from '../storage/tables/drafts.ts';
import type { Db } from '../storage/db.ts';
import type { StoredProgram } from '../plugins/program.ts';
import { findCurrentBuild } from '../storage/tables/builds.ts';

/** The saved draft of a plugin. Throws 404 when there is none. */
export async function requireDraft(db: Db, plugin: PluginKey): Promise<Draft> {
  const draft = await readDraft(db, plugin);
  if (!draft) throw noDraft();
  return draft;
}

/**
 * The program that the current draft was built to; the draft itself is not read. Throws 404 without a draft, and 409 when the
 * draft has changed since its last successful build, because the old program would run code that is no longer there.
 */
export async function requireBuiltProgram(db: Db, plugin: PluginKey): Promise<StoredProgram> {
  const program = await findCurrentBuild(db, plugin);
  if (program) return program;
  if (!(await readDraftState(db, plugin))) throw noDraft();
  throw notBuilt();
}

export const notBuilt = () =>
  new ServiceError(409, 'not-built', 'The draft as it is has no successful build; build it first.');

export const noDraft = () =>
  notFound('draft-not-found', 'This plugin has no draft yet; save one, or start from a template.');
