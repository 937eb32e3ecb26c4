import type { Draft } from 'plugin-editor/client.js';
import { type PluginTarget, checkTarget, locationOf } from '../plugin/target.ts';
import { findBuilder } from '../service/builders.ts';
import { createClient } from '../service/client.ts';
import { DraftStore } from '../service/draft-store.ts';
import { type RenewToken, BearerAuth, checkToken } from '../service/bearer-auth.ts';

/** A draft that was requested before the editor was loaded, so that both load at the same time. */
export interface EarlyDraft {
  readonly auth: BearerAuth;
  readonly store: DraftStore;
  /**
   * What `store.load` resolves with. A rejection is handled already, so that it is not reported as unhandled before this is
   * awaited.
   */
  readonly draft: Promise<Draft | undefined>;
  /** Aborts the request, because the draft is no longer needed. */
  readonly cancel: () => void;
}

export interface EarlyDraftOptions {
  target: PluginTarget;
  token: string;
  /** The base addresses of the services that the editor may talk to, as `allowedBuilders` returns them. */
  builders: readonly string[];
  renewToken: RenewToken;
}

/**
 * Requests a draft. Returns `undefined`, and sends nothing, where the plugin cannot be opened: the editor says why, once it is
 * loaded.
 */
export function requestDraftEarly(options: EarlyDraftOptions): EarlyDraft | undefined {
  const { token, builders, renewToken } = options;
  let target: PluginTarget;
  try {
    target = checkTarget(options.target);
    checkToken(token);
  } catch {
    return undefined;
  }
  const builder = findBuilder(target.builder, builders);
  if (builder === undefined) return undefined;
  const auth = new BearerAuth(token, renewToken);
  const store = new DraftStore(createClient(builder, auth), locationOf(target));
  const abort = new AbortController();
  const draft = store.load(abort.signal);
  draft.catch(() => {});
  return { auth, store, draft, cancel: () => abort.abort() };
}
