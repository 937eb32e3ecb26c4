import { notFound, ServiceError } from './errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { Draft } from '../storage/tables/drafts.ts';
import type { Tables } from '../storage/tables.ts';
import type { StoredProgram } from '../plugins/program.ts';

/** The saved draft of a plugin. Throws 404 when there is none. */
export async function requireDraft({ drafts }: Tables, plugin: PluginKey): Promise<Draft> {
  const draft = await drafts.find(plugin);
  if (!draft) throw noDraft();
  return draft;
}

/**
 * The program that the current draft was built to; the draft itself is not read. Throws 404 without a draft, and 409 when the
 * draft has changed since its last successful build, because the old program would run code that is no longer there.
 */
export async function requireBuiltProgram(
  { builds, drafts }: Tables,
  plugin: PluginKey,
): Promise<StoredProgram> {
  const program = await builds.findCurrent(plugin);
  if (program) return program;
  if (!(await drafts.state(plugin))) throw noDraft();
  throw notBuilt();
}

export const notBuilt = () =>
  new ServiceError(409, 'not-built', 'The draft as it is has no successful build; build it first.');

export const noDraft = () =>
  notFound('draft-not-found', 'This plugin has no draft yet; save one, or start from a template.');
