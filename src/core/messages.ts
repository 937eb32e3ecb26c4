import type { AssistantFailure, AssistantProblem } from './assistant.ts';
import type { PluginTest } from './records.ts';

/**
 * The frame protocol, version 1: who sends what to whom. Each message is plain JSON with `channel`, `version` and `type`;
 * `session` names the `open` that a message belongs to. Two messages of the editor (`deploy`, `live`) have another
 * `version`, which replaces that of the protocol.
 *
 * The two interfaces below are the only list of messages. The types of both sides, what each side has to handle and the tables
 * of docs/reference/frame-protocol.md follow from them. The compiler names all places that have to handle a new message.
 * @internal
 */
export const CHANNEL = 'plugin-editor';
/** @internal */
export const VERSION = 1;

/** The messages of the editor, by type. @internal */
export interface EditorMessages {
  /**
   * Greets the launcher, on every load of the page. The only message that is sent to any origin (`'*'`). Known capabilities: `open`,
   * `save`, `configure`, `assist`.
   */
  hello: { capabilities?: string[] };
  /** The plugin is loaded and can be edited. `exists`: whether it has a draft. Sent again when one of the fields changes. */
  ready: PluginDetails;
  /** The plugin cannot be opened. */
  error: { message: string };
  /** Asks for a token: `missing`, `expired` or `refused`. Answered with `token` or `token-failed`, at most once in 5 s. */
  'token-request': { reason: TokenRequestReason };
  /** Whether there is unsaved work. */
  dirty: { dirty: boolean };
  /** The draft was saved. */
  save: {};
  /** Answers a `save-request`, after any `dirty` and `save`. `error`: why the plugin could not be saved. */
  'save-result': { request: string; error?: string };
  /** A build ended. */
  build: { succeeded: boolean; outputLog: string };
  /** A test run ended. `passed`: whether the result is the expected one; missing if the test asserts nothing. */
  test: { name?: string; result?: string; error?: unknown; passed?: boolean };
  /** A version was deployed. `unchanged`: it was there already. */
  deploy: { version: string; unchanged?: boolean };
  /** Another version was made live; `null`: the newest is live again. Not sent for a deploy. */
  live: { version: string | null };
  /**
   * The author asks the page's assistant, if the settings say that there is one. Ends the request before it. Answered by any
   * number of `assist-part` and one `assist-end`. It may also have `ident`, `namespace` and `fn`; the launcher uses its own.
   */
  assist: {
    request: string;
    prompt: string;
    language: string;
    source: string;
    tests?: PluginTest[];
    declarations?: string;
    problems?: AssistantProblem[];
    failures?: AssistantFailure[];
  };
  /** The author stopped the assistant. Answered by `assist-end`. */
  'assist-stop': { request: string };
}

/** The messages of the launcher, by type. @internal */
export interface LauncherMessages {
  /** Opens a plugin. The answer to every `hello`; an editor with the capability `open` also gets it for each further plugin. */
  open: PluginToOpen;
  /** A renewed token. */
  token: { token: string; expiresAt?: string | undefined };
  /** The answer to a `token-request` if no token could be got; `code` is one of the codes of `PluginEditorError`. */
  'token-failed': { code: string };
  /**
   * Settings changed. Only to an editor with the capability `configure`. A missing field is unchanged, `null` is unset, `appearance`
   * replaces the one before.
   */
  configure: EditorSettingsChange;
  /** Save now, also if there is no draft yet. Only to an editor with the capability `save`. */
  'save-request': { request: string };
  /**
   * A part of the assistant's answer: text that follows the text before, or a whole proposed source or list of tests, which
   * replaces an earlier one.
   */
  'assist-part': { request: string; text?: string; source?: string; tests?: PluginTest[] };
  /** The answer ended. `error`: the assistant's message, or one of the codes below. */
  'assist-end': { request: string; error?: string | undefined };
  /** Forget the token and the plugin. */
  close: {};
}

/** Why an editor asks for a token: it has none, its time is over, or the builder refused it. */
export type TokenRequestReason = 'missing' | 'expired' | 'refused';

/** What an editor knows about the plugin that it shows. */
export interface PluginDetails {
  /** The `identifier` of its language in the features record. */
  language?: string;
  /** Whether it has a draft. */
  exists?: boolean;
  /** What its token allows, such as `read`, `write` and `deploy`. */
  permissions?: string[];
}

/** A message of any type, without the `session` that it is posted with. @internal */
export type MessageOf<Messages> = {
  [Type in keyof Messages]: { type: Type } & Messages[Type];
}[keyof Messages];

/** @internal */
export type EditorMessage = MessageOf<EditorMessages>;

/** @internal */
export type LauncherMessage = MessageOf<LauncherMessages>;

/** How the page looks, so that the editor can look like a part of it. Colours are opaque sRGB: `rgb(r, g, b)`. */
export interface Appearance {
  colorScheme?: 'light' | 'dark';
  /** Colour of buttons and of what is chosen. */
  accent?: string;
  /** Background colour. */
  background?: string;
  /** Text colour. */
  color?: string;
  /** A list of font families. */
  font?: string;
  /** Colour of borders. */
  border?: string;
  /** Radius of corners, in `px`. */
  radius?: string;
}

/** What the page sets for an editor, besides the plugin. */
export interface EditorSettings {
  /** BCP 47 tag for texts, dates and numbers. Match it against your own list of locales. */
  locale?: string;
  /** Show the plugin and change nothing. Only the token decides what is allowed. */
  readOnly?: boolean;
  appearance?: Appearance;
  /** Whether the page has an assistant, which takes `assist`. */
  assistant?: boolean;
}

/**
 * Settings that changed while the plugin is open: a missing field is unchanged, `null` is unset, `appearance` replaces the one
 * before.
 */
export type EditorSettingsChange = { [Name in keyof EditorSettings]?: EditorSettings[Name] | null };

/** What an editor is asked to open. */
export interface PluginToOpen extends EditorSettings {
  /** Base address of the builder interface. Whoever frames the editor chooses it: check that it is one you know. */
  builder: string;
  /** Environment, a period, tenant. */
  ident: string;
  /** Plugin namespace, `default` included. */
  namespace: string;
  /** Plugin name. */
  fn: string;
  /** Language for a new plugin. */
  template?: string | undefined;
  /** Editor token. */
  token: string;
  /** When the token ends, ISO 8601, by the clock of this machine; missing if it is unknown. */
  expiresAt?: string | undefined;
  /** The source of a plugin that has no draft, instead of a template. Until it is edited, it counts as saved. */
  initialSource?: InitialSource | undefined;
}

/** The length of every field of a message that can hold text. Flags have none. */
type TextLimits<Message> = {
  [Field in keyof Message as Required<Message>[Field] extends boolean ? never : Field]-?: number;
};

/**
 * How long the texts of an editor's messages may be, in UTF-16 code units, by message and field; what is beyond is cut off.
 * Without limits, an editor of another origin could keep the page busy by long messages. The compiler names a text that has
 * no limit here.
 * @internal
 */
export const LIMITS = {
  // All of them together.
  hello: { capabilities: 1000 },
  ready: { language: 64, permissions: 1000 },
  error: { message: 500 },
  'token-request': { reason: 20 },
  'save-result': { request: 20, error: 500 },
  build: { outputLog: 65_536 },
  // Of `error`, which may be any JSON: all texts and names of fields in it together.
  test: { name: 1000, result: 65_536, error: 65_536 },
  deploy: { version: 64 },
  live: { version: 64 },
  // A source may be as large as the service takes one. Of each list: all texts and names of fields in it together.
  assist: {
    request: 20,
    prompt: 20_000,
    language: 64,
    source: 1_048_576,
    tests: 1_048_576,
    declarations: 262_144,
    problems: 65_536,
    failures: 262_144,
  },
  'assist-stop': { request: 20 },
} as const satisfies {
  [
    Type in keyof EditorMessages as keyof TextLimits<EditorMessages[Type]> extends never ? never : Type
  ]: TextLimits<EditorMessages[Type]>;
};

/**
 * How many items and fields lists and `error` may have, on all levels together. That limits the number of levels, too.
 * @internal
 */
export const MAX_VALUES = 200;

/** The same for the lists of `assist`: as many as a plugin's record may have. @internal */
export const MAX_ASSIST_VALUES = 20_000;

/**
 * One test of an `InitialSource`: a `PluginTest` without other fields, so that a misspelt one does not compile, and an
 * interface of the page does.
 */
export type InitialTest = Pick<PluginTest, 'name' | 'description' | 'payload' | 'expected' | 'calls'>;

/** The source of a plugin that has no draft yet, instead of a template. */
export interface InitialSource {
  /** The program text. */
  contents: string;
  /** The `identifier` of its language, as the builder knows it. */
  lang: string;
  /** Its tests, as a draft has them. */
  tests?: readonly InitialTest[] | undefined;
}
