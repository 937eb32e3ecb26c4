import { LocalCopies } from '../draft/local-copies.ts';
import type { PluginTarget } from '../plugin/target.ts';
import { findBuilder } from '../service/builders.ts';
import { DraftStore } from '../service/draft-store.ts';
import { PluginService } from '../service/plugin-service.ts';
import { type TokenHolder, bearer } from '../service/token-holder.ts';
import { Notices } from '../ui/notices.ts';
import type { EditorHost } from './editor-host.ts';

/** All that belongs to a plugin from the request to open it until another one is opened. */
export interface Opening {
  target: PluginTarget;
  host: EditorHost;
  tokenHolder: TokenHolder;
  /** The service's base address, as `findBuilder` returns it. */
  builder: string;
  store: DraftStore;
  copies: LocalCopies;
  notices: Notices;
  /** What the token permits, once the service has said it; `undefined` where it does not. */
  permissions: Promise<readonly string[] | undefined>;
  /** Aborted when another plugin is opened, or this one is closed. */
  signal: AbortSignal;
}

export interface OpeningOptions {
  /** As `checkTarget` returns it. */
  target: PluginTarget;
  host: EditorHost;
  tokenHolder: TokenHolder;
  /** The base addresses of the services that the editor may talk to, as `allowedBuilders` returns them. */
  builders: readonly string[];
  /** The store through which the draft was requested before the editor was loaded, if it was. */
  store: DraftStore | undefined;
  signal: AbortSignal;
  onNotice: () => void;
}

/**
 * Gathers what is needed to open a plugin, and asks what the token permits.
 * @returns `undefined` where the editor may not talk to the plugin's service
 * @throws UnusableValueError where no request can carry the token
 */
export function prepareOpening(options: OpeningOptions): Opening | undefined {
  const { target, host, tokenHolder, builders, signal, onNotice } = options;
  const builder = findBuilder(target.builder, builders);
  if (builder === undefined) return undefined;
  // Without this check, a token that no header can hold would look like a session that has ended.
  bearer(tokenHolder.token);
  const store = options.store ?? new DraftStore(builder, target, tokenHolder);
  const copies = new LocalCopies(builder, target);
  signal.addEventListener('abort', () => copies.close());
  const permissions = new PluginService(builder, target, tokenHolder)
    .permissions(signal)
    // A service that does not say what it permits shows it by refusing.
    .catch(() => undefined);
  const notices = new Notices();
  notices.onChange = onNotice;
  return { target, host, tokenHolder, builder, store, copies, notices, permissions, signal };
}

/** Identifies a plugin among all those that the page opens. */
export const openingKey = ({ builder, target }: Opening): string =>
  JSON.stringify([builder, target.ident, target.namespace, target.fn]);
