import { notFound, ServiceError } from './errors.ts';
import type { PluginKey } from './plugin-key.ts';
import type { PluginSource } from './records.ts';
import type { Store } from './store.ts';
import type { StoredProgram } from './sandbox/program.ts';

/** A draft as it is saved. Throws 404 without one. */
export function savedDraft(store: Store, plugin: PluginKey): PluginSource {
  const source = store.drafts.find(plugin)?.source;
  if (!source)
    throw notFound('draft-not-found', 'This plugin has no draft yet; save one, or start from a template.');
  return source;
}

/**
 * A draft as it is saved and what it was built to. Throws 404 without a draft, and 409 when its text or language is
 * another than that of its last successful build: an older build would answer for code that is not there any more.
 */
export function builtDraft(
  store: Store,
  plugin: PluginKey,
): { source: PluginSource; program: StoredProgram } {
  const source = savedDraft(store, plugin);
  const program = store.builds.find(plugin, source);
  if (!program) {
    throw new ServiceError(409, 'not-built', 'The draft as it is has no successful build; build it first.');
  }
  return { source, program };
}
