import {
  type PluginChannel,
  type PluginDetails,
  type PluginToOpen,
  connectLauncher,
} from 'plugin-editor/editor.js';
import type { PluginTarget } from '../plugin/target.ts';
import { loadModule } from '../ui/lazy-module.ts';
import type { EditorHost } from '../workspace/plugin-session.ts';
import type { EditorApp } from './app.ts';
import { type EarlyDraft, requestDraftEarly } from './early-draft.ts';
import { type RequestedSettings, applySettingsChange, parseRequestedSettings } from './requested-settings.ts';

/** A plugin to open. */
export interface PluginRequest {
  target: PluginTarget;
  token: string;
}

export interface LauncherLinkOptions {
  /** What the page's address asked for. */
  addressed: PluginRequest | undefined;
  /** The base addresses of the services that the editor may talk to, as `allowedBuilders` returns them. */
  builders: readonly string[];
}

/**
 * Connects the editor with the launcher in the page around it. It greets the launcher at once, and requests the draft as soon as
 * the address or a message names a plugin, both before the editor is loaded; once the editor is loaded, it opens the plugin.
 */
export class LauncherLink {
  readonly #builders: readonly string[];
  /** Settles once the editor is loaded, or could not be. */
  readonly #loaded = Promise.withResolvers<EditorApp>();
  #app: EditorApp | undefined;
  /** The plugin that is open, or will be once the editor is loaded. */
  #current: RequestedPlugin | undefined;
  /** Why the editor could not be loaded, if it could not. */
  #problem: string | undefined;
  #settings: RequestedSettings = {};

  constructor({ addressed, builders }: LauncherLinkOptions) {
    this.#builders = builders;
    // Where no save waits for it, a failure is reported by `fail`.
    this.#loaded.promise.catch(() => {});
    if (addressed) this.#open(addressed);
    connectLauncher({
      capabilities: ['open', 'assist'],
      onOpen: (open, channel) => this.#handleOpen(open, channel),
      onToken: ({ token }) => this.#replaceToken(token),
      onClose: () => {
        this.#current?.early?.cancel();
        this.#current = undefined;
        this.#app?.closePlugin();
      },
      onSave: async () => (await this.#loaded.promise).save(),
      onConfigure: (changes) => this.#configure(applySettingsChange(this.#settings, changes)),
    });
  }

  /** The language that the page around the editor asked for, as far as it is known. */
  get locale(): string | undefined {
    return this.#settings.locale;
  }

  /** The editor is loaded: opens the plugin that was asked for. Returns `false` if none was. */
  start(app: EditorApp): boolean {
    this.#app = app;
    this.#loaded.resolve(app);
    app.configure(this.#settings);
    if (!this.#current) return false;
    this.#openInApp(this.#current);
    return true;
  }

  /** The editor could not be loaded. */
  fail(problem: string): void {
    this.#problem = problem;
    this.#loaded.reject(new Error(problem));
    this.#current?.early?.cancel();
    this.#current?.report.error(problem);
  }

  #handleOpen(open: PluginToOpen, channel: PluginChannel): void {
    // The page around it may have loaded the editor ahead, and open a plugin long after.
    if (this.#problem !== undefined) return channel.error(this.#problem);
    const { builder, ident, namespace, fn, template, token } = open;
    const target: PluginTarget = { builder, ident, namespace, fn, ...(template ? { template } : {}) };
    this.#configure(parseRequestedSettings(open));
    const current = this.#current;
    // The plugin is open already: by its address, or by a message whose token is replaced now.
    if (current && !current.report.failed && isSame(current.target, target)) {
      current.report.attach(channel);
      this.#replaceToken(token);
    } else {
      this.#open({ target, token }, channel);
    }
  }

  #configure(settings: RequestedSettings): void {
    const isAppearanceChanged = settings.appearance !== this.#settings.appearance;
    this.#settings = settings;
    // Applied before the editor is loaded, so that it does not show its own appearance first. If this module cannot be loaded, the
    // editor keeps its own.
    if (isAppearanceChanged)
      loadModule(() => import('../ui/appearance.ts')).then(
        ({ applyAppearance }) => applyAppearance(this.#settings.appearance),
        () => {},
      );
    this.#app?.configure(settings);
  }

  #open({ target, token }: PluginRequest, channel?: PluginChannel): void {
    this.#current?.early?.cancel();
    const report = new LauncherReport();
    if (channel) report.attach(channel);
    const requested: RequestedPlugin = { target, token, report, early: undefined };
    this.#current = requested;
    if (this.#app) return this.#openInApp(requested);
    this.#requestDraft(requested);
  }

  #requestDraft(requested: RequestedPlugin): void {
    const { target, token, report, early } = requested;
    early?.cancel();
    const { renewToken } = report;
    requested.early = requestDraftEarly({ target, token, renewToken, builders: this.#builders });
  }

  #openInApp(requested: RequestedPlugin): void {
    const { target, token, report, early } = requested;
    requested.early = undefined;
    void this.#app?.openPlugin(target, token, report, early);
  }

  #replaceToken(token: string): void {
    if (this.#app) return this.#app.replaceToken(token);
    if (!this.#current || token === this.#current.token) return;
    this.#current.token = token;
    // The service may have refused the former token.
    this.#requestDraft(this.#current);
  }
}

/** A plugin that was asked for, and what reports about it to the launcher. */
interface RequestedPlugin extends PluginRequest {
  report: LauncherReport;
  /** Its draft, until the editor is loaded and takes it over. */
  early: EarlyDraft | undefined;
}

/** Reports about one plugin to the launcher. A launcher that connects later gets the present state at once. */
class LauncherReport implements EditorHost {
  failed = false;
  #channel: PluginChannel | undefined;
  #ready: PluginDetails | undefined;
  #dirty = false;

  attach(channel: PluginChannel): void {
    this.#channel = channel;
    if (this.#ready) channel.ready(this.#ready);
    if (this.#dirty) channel.dirty(true);
  }

  ready(plugin: PluginDetails): void {
    this.#ready = plugin;
    this.#channel?.ready(plugin);
  }

  error(message: string): void {
    this.failed = true;
    this.#channel?.error(message);
  }

  dirty(dirty: boolean): void {
    this.#dirty = dirty;
    this.#channel?.dirty(dirty);
  }

  save(): void {
    this.#channel?.save();
  }

  build(build: Parameters<PluginChannel['build']>[0]): void {
    this.#channel?.build(build);
  }

  test(test: Parameters<PluginChannel['test']>[0]): void {
    this.#channel?.test(test);
  }

  deploy(deploy: Parameters<PluginChannel['deploy']>[0]): void {
    this.#channel?.deploy(deploy);
  }

  live(live: Parameters<PluginChannel['live']>[0]): void {
    this.#channel?.live(live);
  }

  assist: PluginChannel['assist'] = (question, options) => {
    if (!this.#channel) throw new Error('closed');
    return this.#channel.assist(question, options);
  };

  renewToken = async (): Promise<string> => {
    if (!this.#channel) throw new Error('No launcher is connected that could renew the token');
    return (await this.#channel.requestToken('expired')).token;
  };
}

const isSame = (a: PluginTarget, b: PluginTarget): boolean =>
  (['builder', 'ident', 'namespace', 'fn', 'template'] as const).every(
    (name) => (a[name] || undefined) === (b[name] || undefined),
  );
