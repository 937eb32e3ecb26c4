import { notFound, ServiceError } from './errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { Draft } from '../storage/tables/drafts.ts';
import type { Tables } from '../storage/tables.ts';
import type { StoredProgram } from '../plugins/program.ts';

/** A draft as it is saved. Throws 404 without one. */
export async function savedDraft({ drafts }: Tables, plugin: PluginKey): Promise<Draft> {
  const draft = await drafts.find(plugin);
  if (!draft) throw noDraft();
  return draft;
}

/**
 * What the draft as it is was built to; the draft itself is not read. Throws 404 without a draft, and 409 when its text or
 * language is another than that of its last successful build: an older build would answer for code that is not there any
 * more.
 */
export async function builtProgram({ builds, drafts }: Tables, plugin: PluginKey): Promise<StoredProgram> {
  const program = await builds.findCurrent(plugin);
  if (program) return program;
  if (!(await drafts.exists(plugin))) throw noDraft();
  throw notBuilt();
}

/** The draft as it is has no build that succeeded. */
export const notBuilt = () =>
  new ServiceError(409, 'not-built', 'The draft as it is has no successful build; build it first.');

const noDraft = () =>
  notFound('draft-not-found', 'This plugin has no draft yet; save one, or start from a template.');
