import {
  type BuilderClient,
  type DraftLocation,
  HttpError,
  type PluginSource,
  type Session,
} from 'plugin-editor/client.js';
import type { PluginChannel } from 'plugin-editor/editor.js';
import { LocalCopies } from '../draft/local-copies.ts';
import { type PluginTarget, locationOf } from '../plugin/target.ts';
import { createClient } from '../service/client.ts';
import { DraftStore } from '../service/draft-store.ts';
import type { RenewToken, BearerAuth } from '../service/bearer-auth.ts';
import { Notices } from '../ui/notices.ts';
import type { Screen } from '../ui/screen.ts';

/** The page around the editor, as far as it hears of one plugin. The editor may also run without such a page. */
export interface EditorHost extends Partial<Omit<PluginChannel, 'requestToken'>> {
  /** Gets another token when the service says that this one has ended. */
  renewToken?: RenewToken;
}

export interface PluginSessionOptions {
  target: PluginTarget;
  /** The service's base address, in the form that `findBuilder` returns. */
  builder: string;
  auth: BearerAuth;
  host: EditorHost;
  screen: Screen;
  /** The store through which the draft was requested before the editor was loaded, if it was. */
  store: DraftStore | undefined;
  /** What the token permits became known, or is something else than before. */
  onPermissions: () => void;
}

/** What belongs to a plugin from the request to open it until another one is opened. All its parts share it. */
export class PluginSession {
  readonly target: PluginTarget;
  readonly builder: string;
  readonly auth: BearerAuth;
  readonly host: EditorHost;
  /** Where the plugin is shown. A part that changes what is shown asks it to draw. */
  readonly screen: Screen;
  readonly client: BuilderClient;
  /** Where the service has the plugin. */
  readonly location: DraftLocation;
  readonly store: DraftStore;
  readonly copies: LocalCopies;
  readonly notices: Notices;
  readonly #onPermissions: () => void;
  #permissions: readonly string[] | undefined;
  /** Whether the service can say what a token permits, as far as is known. */
  #hasDetails = true;
  #details: Promise<Session | undefined>;
  readonly #abort = new AbortController();

  constructor({ target, builder, auth, host, screen, store, onPermissions }: PluginSessionOptions) {
    this.target = target;
    this.builder = builder;
    this.auth = auth;
    this.host = host;
    this.screen = screen;
    this.client = createClient(builder, auth);
    this.location = locationOf(target);
    this.store = store ?? new DraftStore(this.client, this.location);
    this.copies = new LocalCopies(builder, target);
    this.notices = new Notices(() => screen.draw());
    this.#onPermissions = onPermissions;
    this.#details = this.#requestDetails();
    this.signal.addEventListener('abort', () => this.copies.close());
  }

  /** Aborted when another plugin is opened, or this one is closed. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What the token permits and how much is stored, once the service has said it; `undefined` where it does not. */
  get details(): Promise<Session | undefined> {
    return this.#details;
  }

  /** What the token permits, as far as the service has said it. */
  get permissions(): readonly string[] | undefined {
    return this.#permissions;
  }

  /** The token is another one, or the service may be there again: asks again for the details. */
  reloadDetails(): void {
    if (this.#hasDetails) this.#details = this.#requestDetails();
  }

  /** Identifies the plugin among all those that the page opens. */
  get key(): string {
    const { ident, namespace, fn } = this.target;
    return JSON.stringify([this.builder, ident, namespace, fn]);
  }

  /** Loads the template of a language. @throws HttpError with status 404 where the service does not have that language */
  loadTemplate(language: string): Promise<PluginSource> {
    const { fn, namespace } = this.target;
    return this.client.getTemplateV2({ language, pluginName: fn, namespace }, { signal: this.signal });
  }

  close(): void {
    this.#abort.abort();
  }

  #requestDetails(): Promise<Session | undefined> {
    // A service that does not say what it permits shows it by refusing.
    const details = this.client.getSession({ signal: this.signal }).catch((error: unknown) => {
      if (error instanceof HttpError && error.status === 404) this.#hasDetails = false;
      return undefined;
    });
    void this.#takeOver(details);
    return details;
  }

  async #takeOver(details: Promise<Session | undefined>): Promise<void> {
    const known = await details;
    // Another token may have come meanwhile. Without a response, what is known stays.
    if (!known || details !== this.#details || this.signal.aborted) return;
    const isSame = String(known.permissions) === String(this.#permissions);
    this.#permissions = known.permissions;
    if (!isSame) this.#onPermissions();
  }
}
