import type { AssistantProposal, AssistantQuestion } from '../core/assistant.ts';
import type { PluginToOpen, TokenRequestReason } from '../core/messages.ts';

/** The settings by which the stand-in editor opens plugins. */
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

/** The commands by which a test drives the page of the stand-in editor. */
export interface StandInCommands {
  /** Returns the plugin that is open; `undefined` before the first one and after the launcher closed it. */
  plugin(): OpenedPlugin | undefined;
  /** Reports unsaved work, or with `false` that there is none. */
  dirty(dirty?: boolean): void;
  /** Saves the draft. Throws while {@link refuseSaves} has set a message. */
  save(): void;
  /** Makes each save fail with this message from now on; with `undefined`, saves succeed again. */
  refuseSaves(message: string | undefined): void;
  /** Reports the end of a build, which succeeded unless `succeeded` is `false`. */
  build(build?: { succeeded?: boolean; outputLog?: string }): void;
  /** Reports the end of a test. */
  test(test: { name?: string; result?: string; error?: unknown; passed?: boolean }): void;
  /** Reports that a version was deployed; the default is `v1.0.0`. */
  deploy(deploy?: { version?: string; unchanged?: boolean }): void;
  /** Reports that another version was made live; `null` stands for the newest. */
  live(version: string | null): void;
  /** Reports that the editor cannot go on with this plugin; `message` is for its user. */
  fail(message: string): void;
  /**
   * Asks the launcher for another token, as if this one were no longer valid. Resolves with the new one; rejects with an error
   * whose message is the launcher's error code, such as `token-unauthorized`.
   */
  requestToken(reason?: TokenRequestReason): Promise<string | undefined>;
  /**
   * Asks the `assistant` of the element, as an author would; what the question leaves out is empty. Resolves when the answer has
   * ended, or after `stopAfter` parts.
   */
  assist(question?: Partial<AssistantQuestion>, options?: { stopAfter?: number }): Promise<AssistantAnswer>;
}

/** What an assistant answered: all text, the last proposal, and why it failed, if it did. */
export interface AssistantAnswer extends AssistantProposal {
  text: string;
  error?: string;
}

/** The same commands for a test outside of the frame: each returns a promise. */
export type StandInEditor = {
  [Name in keyof StandInCommands]: (
    ...args: Parameters<StandInCommands[Name]>
  ) => Promise<Awaited<ReturnType<StandInCommands[Name]>>>;
};

/** The name of a command. @internal */
export type CommandName = keyof StandInCommands;

/** All commands. They are the keys of an object, so that the compiler names one that is missing. */
const commandNames = Object.keys({
  plugin: true,
  dirty: true,
  save: true,
  refuseSaves: true,
  build: true,
  test: true,
  deploy: true,
  live: true,
  fail: true,
  requestToken: true,
  assist: true,
} satisfies Record<CommandName, true>) as CommandName[];

/** Makes the commands for a test outside of the frame. `run` carries one out in the page. @internal */
export const createCommands = (
  run: (name: CommandName, args: unknown[]) => Promise<unknown>,
): StandInEditor =>
  Object.fromEntries(
    commandNames.map((name) => [name, (...args: unknown[]) => run(name, args)]),
  ) as StandInEditor;
