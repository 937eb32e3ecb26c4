import { type PluginChannel, type PluginToOpen, connectLauncher } from 'plugin-editor/editor.js';
import type { PluginTarget } from '../plugin/target.ts';
import type { EditorApp, EditorHost } from './app.ts';

/** What a page's address asked for. */
interface Addressed {
  target: PluginTarget;
  token: string;
}

/**
 * Does what the page around the editor asks for by the frame protocol. It greets at once; what it hears before the
 * editor is loaded waits for it. On a page that is in no frame it passes on what the address asked for, and no more.
 */
export class LauncherLink {
  #app: EditorApp | undefined;
  /** The plugin that is open, and what reports about it to the launcher. */
  #opened: { target: PluginTarget; report: Report } | undefined;
  #waiting: { open: PluginToOpen; channel: PluginChannel } | undefined;
  /** Why the editor could not be loaded. */
  #problem: string | undefined;

  constructor() {
    connectLauncher({
      capabilities: ['open'],
      onOpen: (open, channel) => {
        // The page around it may have loaded this one ahead, and ask long after.
        if (this.#problem !== undefined) return channel.error(this.#problem);
        this.#waiting = { open, channel };
        this.#openWaiting();
      },
      onToken: ({ token }) => {
        if (this.#waiting) this.#waiting.open = { ...this.#waiting.open, token };
        else this.#app?.replaceToken(token);
      },
      onClose: () => {
        this.#waiting = this.#opened = undefined;
        this.#app?.closePlugin();
      },
    });
  }

  /** The editor is loaded. Answers whether there is a plugin to open, and opens it. */
  start(app: EditorApp, addressed: Addressed | undefined): boolean {
    this.#app = app;
    const asked = !!addressed || !!this.#waiting;
    if (addressed) this.#open(addressed);
    this.#openWaiting();
    return asked;
  }

  /** The editor could not be loaded. */
  fail(problem: string): void {
    this.#problem = problem;
    this.#waiting?.channel.error(problem);
  }

  #openWaiting(): void {
    if (!this.#waiting || !this.#app) return;
    const { open, channel } = this.#waiting;
    this.#waiting = undefined;
    const { token, expiresAt: _, ...target } = open;
    const { target: current, report } = this.#opened ?? {};
    // Opened by its address, and now by message as well; or by message, with nothing but a new token.
    if (current && report && !report.failed && isSame(current, target)) {
      report.attach(channel);
      this.#app.replaceToken(token);
    } else {
      this.#open({ target, token }, channel);
    }
  }

  #open({ target, token }: Addressed, channel?: PluginChannel): void {
    const report = new Report();
    if (channel) report.attach(channel);
    this.#opened = { target, report };
    void this.#app?.openPlugin(target, token, report);
  }
}

/** Tells the launcher about one plugin: what happens, and, when a launcher shows up late, what happened before. */
class Report implements EditorHost {
  failed = false;
  #channel: PluginChannel | undefined;
  #ready = false;
  #dirty = false;

  attach(channel: PluginChannel): void {
    this.#channel = channel;
    if (this.#ready) channel.ready();
    if (this.#dirty) channel.dirty(true);
  }

  onReady = (): void => {
    this.#ready = true;
    this.#channel?.ready();
  };

  onFail = (problem: string): void => {
    this.failed = true;
    this.#channel?.error(problem);
  };

  onDirty = (dirty: boolean): void => {
    this.#dirty = dirty;
    this.#channel?.dirty(dirty);
  };

  onSave = (): void => this.#channel?.save();
  onBuild: NonNullable<EditorHost['onBuild']> = (build) => this.#channel?.build(build);
  onTest: NonNullable<EditorHost['onTest']> = (test) => this.#channel?.test(test);
  onDeploy: NonNullable<EditorHost['onDeploy']> = (deploy) => this.#channel?.deploy(deploy);

  renewToken = async (): Promise<string> => {
    if (!this.#channel) throw new Error('Nobody opened this plugin by message');
    return (await this.#channel.requestToken('expired')).token;
  };
}

const isSame = (a: PluginTarget, b: PluginTarget): boolean =>
  (['builder', 'ident', 'namespace', 'fn', 'template'] as const).every(
    (name) => (a[name] || undefined) === (b[name] || undefined),
  );
