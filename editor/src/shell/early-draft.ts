import { checkTarget, type PluginTarget } from '../plugin/target.ts';
import { findBuilder } from '../service/builders.ts';
import { type Draft, DraftStore } from '../service/draft-store.ts';
import { type RenewToken, TokenHolder, bearer } from '../service/token-holder.ts';

/** A draft that was asked for before the editor was loaded, so that the answer comes while the editor does. */
export interface EarlyDraft {
  readonly tokenHolder: TokenHolder;
  readonly store: DraftStore;
  /** What `store.load` answers. A rejection waits for whoever takes this over. */
  readonly draft: Promise<Draft | undefined>;
  /** Nobody will take it over. */
  readonly cancel: () => void;
}

export interface EarlyDraftOptions {
  target: PluginTarget;
  token: string;
  /** The builders it may talk to, in the form of `builderBase`. */
  builders: readonly string[];
  renewToken: RenewToken;
}

/**
 * Asks for a draft.
 * @returns `undefined` where the plugin cannot be opened, and nothing was sent: the editor says why, once it is loaded.
 */
export function requestDraftEarly(options: EarlyDraftOptions): EarlyDraft | undefined {
  const { token, builders, renewToken } = options;
  let target: PluginTarget;
  try {
    target = checkTarget(options.target);
    bearer(token);
  } catch {
    return undefined;
  }
  const builder = findBuilder(target.builder, builders);
  if (builder === undefined) return undefined;
  const tokenHolder = new TokenHolder(token, renewToken);
  const store = new DraftStore(builder, target, tokenHolder);
  const abort = new AbortController();
  const draft = store.load(abort.signal);
  draft.catch(() => {});
  return { tokenHolder, store, draft, cancel: () => abort.abort() };
}
