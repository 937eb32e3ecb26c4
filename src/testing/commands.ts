import type { PluginToOpen, TokenRequestReason } from '../core/messages.ts';

/** How the stand-in editor opens plugins. */
export interface StandInSettings {
  /** Makes every plugin one that cannot be opened; the text is the editor's message. */
  openError?: string;
  /** The language of a plugin for which the page names none. Default `javascript`. */
  language: string;
  /** Whether plugins have a draft already. Default `false`. */
  exists: boolean;
  /** What the token permits, as the editor says it. Default `['read', 'write', 'deploy']`. */
  permissions: string[];
}

/** A plugin in the stand-in editor: what the launcher sent, its newest token included, and what the editor said of it. */
export interface OpenedPlugin extends PluginToOpen {
  language: string;
  exists: boolean;
  permissions: string[];
}

/** What the page of the stand-in editor does at a test's word. */
export interface StandInCommands {
  /** The plugin that is open; `undefined` before the first one and after the launcher closed it. */
  plugin(): OpenedPlugin | undefined;
  /** Unsaved work appears, or goes. */
  dirty(dirty?: boolean): void;
  /** The draft is saved. Throws while {@link refuseSaves} says so. */
  save(): void;
  /** Each save fails with this message from now on; `undefined`: no more. */
  refuseSaves(message: string | undefined): void;
  /** A build ended; it succeeded unless `succeeded` is `false`. */
  build(build?: { succeeded?: boolean; outputLog?: string }): void;
  /** A test ended. */
  test(test: { name?: string; result?: string; error?: unknown; passed?: boolean }): void;
  /** A version was deployed, `v1.0.0` unless it is named. */
  deploy(deploy?: { version?: string; unchanged?: boolean }): void;
  /** Another version was made live; `null` for the newest. */
  live(version: string | null): void;
  /** The editor cannot go on with this plugin; `message` is for its user. */
  fail(message: string): void;
  /**
   * The token is no longer valid, and the editor asks for another. Resolves with the new one; rejects with the launcher's error
   * code, such as `token-unauthorized`.
   */
  requestToken(reason?: TokenRequestReason): Promise<string | undefined>;
}

/** The commands as a test gives them from outside of the frame. */
export type StandInEditor = {
  [Name in keyof StandInCommands]: (
    ...args: Parameters<StandInCommands[Name]>
  ) => Promise<Awaited<ReturnType<StandInCommands[Name]>>>;
};

export const commandNames: readonly (keyof StandInCommands)[] = [
  'plugin',
  'dirty',
  'save',
  'refuseSaves',
  'build',
  'test',
  'deploy',
  'live',
  'fail',
  'requestToken',
];

/** Makes the commands of functions that carry one out wherever the page is. */
export const commandsBy = (run: (name: string, args: unknown[]) => Promise<unknown>): StandInEditor =>
  Object.fromEntries(
    commandNames.map((name) => [name, (...args: unknown[]) => run(name, args)]),
  ) as unknown as StandInEditor;
