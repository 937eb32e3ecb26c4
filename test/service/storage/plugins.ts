import assert from 'node:assert/strict';
import type { Storage } from '../../../service/src/storage/storage.ts';

export const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'x' };
export const otherPlugin = { ...plugin, pluginName: 'y' };
export const sourceOf = (contents: string) => ({ lang: 'javascript', contents });
export const programOf = (code: string) => ({ kind: 'script', code, file: 'plugin.js' }) as const;

export const addEnvironment = (storage: Storage, environment = plugin.environment) =>
  storage.tables.environments.add(environment, 0);

/** Saves a draft, as the service does it. `etag`: what it has to be for the save to happen. */
export async function save({ tables }: Storage, contents: string, of = plugin, etag?: string) {
  if (etag === undefined) return tables.drafts.save(of, sourceOf(contents), 0);
  try {
    return await tables.drafts.update(of, 0, (current) => {
      if (current?.etag !== etag) throw new OtherDraft();
      return sourceOf(contents);
    });
  } catch (error) {
    if (error instanceof OtherDraft) return undefined;
    throw error;
  }
}

class OtherDraft extends Error {}

/** Saves a draft with this text and a build of it. */
export const build = (storage: Storage, contents: string, of = plugin) =>
  storage.transaction(async (tables) => {
    await tables.lockPlugin(of);
    await tables.environments.add(of.environment, 0);
    await tables.drafts.save(of, sourceOf(contents), 0);
    await tables.builds.save(of, sourceOf(contents), programOf(contents), 0);
  });

/** Deploys what a text was built to. */
export const deploy = (storage: Storage, contents: string, of = plugin) =>
  storage.transaction(async (tables) => {
    await tables.lockPlugin(of);
    const program = await tables.builds.find(of, sourceOf(contents));
    assert.ok(program);
    return tables.versions.add(of, sourceOf(contents), program, 0);
  });

export const setToken = (storage: Storage, token: string, environment = plugin.environment) =>
  storage.transaction(async (tables) => {
    await tables.environments.add(environment, 0);
    await tables.environments.setToken(environment, 'owner', token, 0);
  });

/** A text with all that texts in JavaScript can hold and texts in databases cannot. */
export const oddText = 'NUL \0, high \ud800, low \udc00, pair \u{1f600}, line \u2028, BOM \ufeff, end';
