/** The editor's half of the frame protocol, for the page in the frame. */
import type { AssistantProposal, AssistantQuestion } from './core/assistant.ts';
import {
  type Appearance,
  CHANNEL,
  type EditorMessage,
  type EditorMessages,
  type EditorSettings,
  type EditorSettingsChange,
  type InitialSource,
  type LauncherMessages,
  type PluginDetails,
  type PluginToOpen,
  type TokenRequestReason,
  VERSION,
} from './core/messages.ts';
import { isFlag, isRecordList, isText } from './core/untrusted.ts';
import { parseOrigins } from './core/origins.ts';

export type {
  AssistantFailure,
  AssistantProblem,
  AssistantProposal,
  AssistantQuestion,
} from './core/assistant.ts';
export type {
  Appearance,
  EditorSettings,
  EditorSettingsChange,
  InitialSource,
  InitialTest,
  PluginDetails,
  PluginToOpen,
  TokenRequestReason,
} from './core/messages.ts';
export type { PluginTest } from './core/records.ts';

/** A new token for the plugin that is open. */
export interface RenewedToken {
  token: string;
  /** When the token ends, ISO 8601, by the clock of this machine; missing if it is unknown. */
  expiresAt?: string;
}

export interface LauncherOptions {
  /**
   * Opens a plugin, which replaces the one before. Report about it through `plugin`: once another plugin is opened, reports through it
   * are dropped. An error that this function throws is reported as by `plugin.error()`.
   */
  onOpen: (open: PluginToOpen, plugin: PluginChannel) => void | Promise<void>;
  /** The launcher has a new token for the plugin that is open. */
  onToken?: (token: RenewedToken) => void;
  /** The user signed out: forget the token and the plugin. */
  onClose?: () => void;
  /**
   * Saves the plugin that is open, also one that has no draft yet. The launcher waits for it before it opens another plugin.
   * Report `dirty` and `save` before it resolves; when it rejects, the error's message says why. Adds the capability `save`.
   */
  onSave?: () => Promise<void>;
  /**
   * Applies settings that changed while the plugin is open: a missing field is unchanged, `null` is unset, and
   * `appearance` replaces the one before. Adds the capability `configure`.
   */
  onConfigure?: (changes: EditorSettingsChange) => void;
  /**
   * Further capabilities: `open`, if this editor can open another plugin without reloading its page, and `assist`, if it
   * shows a panel for the page's assistant.
   */
  capabilities?: readonly string[];
  /**
   * Origins of the pages that may open plugins here, such as `https://app.example.com`; messages of other pages are
   * ignored. Recommended: by default every page that frames the editor can open a plugin in it and give it a token.
   */
  allowedOrigins?: readonly string[];
}

/** The methods by which an editor reports about a plugin. */
export interface PluginChannel {
  /** The plugin is loaded and can be edited. Call it again when one of the details changes. */
  ready(details?: PluginDetails): void;
  /** The plugin cannot be opened. The element shows `message` to the user, unless the page has its own text. */
  error(message: string): void;
  /** Whether there is unsaved work. */
  dirty(dirty: boolean): void;
  /** The draft was saved. */
  save(): void;
  /** A build ended. */
  build(build: { succeeded: boolean; outputLog: string }): void;
  /** A test run ended. `passed` is for a test that asserts something. */
  test(test: { name?: string; result?: string; error?: unknown; passed?: boolean }): void;
  /** A version was deployed. `unchanged`: it was there already. */
  deploy(deploy: { version: string; unchanged?: boolean }): void;
  /** Another version was made live; `null`: the newest is live again. Not for a deploy. */
  live(live: { version: string | null }): void;
  /**
   * Asks for a new token. Rejects with an `Error` whose message is a code: one of `PluginEditorError` if no token could be got, or
   * `closed` if another plugin was opened or this one closed meanwhile.
   */
  requestToken(reason: TokenRequestReason): Promise<RenewedToken>;
  /**
   * Asks the page's assistant, if `assistant` of the settings is `true`. The iteration begins the request, and a new request ends the
   * one before. Show text as plain text, and let the author take or leave a proposal. The iteration throws an `Error` whose message
   * is what the assistant said or a code of the frame protocol; `closed` if another plugin is opened or this one closed meanwhile;
   * the signal's reason when aborted.
   */
  assist(question: AssistantQuestion, options?: { signal?: AbortSignal }): AsyncIterable<AssistantPart>;
}

/** A part of the assistant's answer: text that follows the text before, or a proposal that replaces an earlier one. */
export interface AssistantPart extends AssistantProposal {
  text?: string;
}

/** Reports about the plugin that was opened last. Before the first `open`, the methods do nothing. */
export interface Launcher extends PluginChannel {
  /** Stops listening. */
  disconnect(): void;
}

/**
 * Greets the launcher, and returns the methods that report to it. Outside a frame, and on a server, it does nothing and returns
 * `undefined`. It takes messages only from the parent window; with `allowedOrigins`, only from these origins; and after the first
 * `open`, only from the origin of that. It posts only the greeting before the first `open`, and later only to that origin.
 * @throws TypeError that names the entry of `allowedOrigins` that is not an origin.
 */
export function connectLauncher(options: LauncherOptions): Launcher | undefined {
  const { allowedOrigins } = options;
  const allowed = parseOrigins(allowedOrigins);
  // A server that renders the editor's page has no window.
  if (typeof window === 'undefined' || window.parent === window) return undefined;
  const { parent } = window;
  let origin: string | undefined;
  let session: string | undefined;
  /** The pending request for a token. All calls of `requestToken` meanwhile share it. */
  let tokenRequest: PromiseWithResolvers<RenewedToken> | undefined;
  /** The names of the plugin that was opened last. */
  let plugin: Pick<PluginToOpen, 'ident' | 'namespace' | 'fn'> | undefined;
  let requestCount = 0;
  /** The answers of the assistant that are awaited, by request. */
  const answers = new Map<string, Answer>();

  // The round trip through JSON leaves out what cannot be posted, such as a function in an error.
  const post = (message: EditorMessage & { session?: string }, target = origin as string) =>
    parent.postMessage(
      JSON.parse(JSON.stringify({ channel: CHANNEL, version: VERSION, ...message })),
      target,
    );

  const rejectTokenRequest = (reason: string) => {
    tokenRequest?.reject(new Error(reason));
    tokenRequest = undefined;
  };
  const endSession = () => {
    session = undefined;
    rejectTokenRequest('closed');
    for (const answer of answers.values()) answer.end(new Error('closed'));
    answers.clear();
  };

  /** Posts a message of a session, and returns `false` if that is no longer the one that is open. */
  const report = (messageSession: string | undefined, message: EditorMessage) => {
    const isOpen = !!messageSession && messageSession === session;
    if (isOpen) post({ ...message, session: messageSession });
    return isOpen;
  };

  const channelOf = (getSession: () => string | undefined) =>
    createChannel(
      (type, fields) => report(getSession(), { type, ...fields } as EditorMessage),
      () => (tokenRequest ??= Promise.withResolvers()).promise,
      (question, given) => ask(getSession(), question, given),
    );

  async function* ask(
    asked: string | undefined,
    question: AssistantQuestion,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<AssistantPart> {
    signal?.throwIfAborted();
    const request = String(++requestCount);
    if (!report(asked, { ...plugin, ...question, type: 'assist', request })) throw new Error('closed');
    const answer = new Answer();
    answers.set(request, answer);
    const stop = () => answer.end(signal?.reason as Error);
    signal?.addEventListener('abort', stop);
    try {
      yield* answer.parts();
    } finally {
      signal?.removeEventListener('abort', stop);
      // The launcher has ended it already, or is told.
      if (answers.delete(request)) report(asked, { type: 'assist-stop', request });
    }
  }

  /** Handles each message of the launcher. All but `open` are about the session that is open. */
  const handlers: {
    [Type in keyof LauncherMessages]: (data: Fields, messageSession: string, sender: string) => void;
  } = {
    open: (data, messageSession, sender) => {
      const open = readOpen(data);
      if (!open) return;
      endSession();
      origin = sender;
      session = messageSession;
      const { ident, namespace, fn } = open;
      plugin = { ident, namespace, fn };
      const channel = channelOf(() => messageSession);
      // An error that the editor did not foresee is reported as well. Without that, the launcher would report a time-out. It
      // goes to the console first, because the launcher removes the frame.
      (async () => options.onOpen(open, channel))().catch((error: unknown) => {
        reportError(error);
        channel.error(messageOf(error));
      });
    },
    token: (data) => {
      const token = readToken(data);
      if (!token) return;
      tokenRequest?.resolve(token);
      tokenRequest = undefined;
      options.onToken?.(token);
    },
    'token-failed': ({ code }) => rejectTokenRequest(String(code)),
    configure: (data) => options.onConfigure?.(readSettings(data)),
    'save-request': ({ request }, messageSession) => {
      if (!isFilled(request)) return;
      // Without `onSave`, although the capability was named, the call throws, and the launcher is told that nothing was saved.
      void (async () => (options.onSave as () => Promise<void>)())()
        .then(() => undefined, messageOf)
        .then((error) => report(messageSession, { type: 'save-result', request, error } as EditorMessage));
    },
    'assist-part': ({ request, text, source, tests }) =>
      answers.get(request as string)?.add({
        ...(isText(text) && { text }),
        ...(isText(source) && { source }),
        ...(isRecordList(tests) && { tests }),
      }),
    'assist-end': ({ request, error }) => {
      const answer = answers.get(request as string);
      answers.delete(request as string);
      answer?.end(isText(error) ? new Error(error) : undefined);
    },
    close: () => {
      endSession();
      options.onClose?.();
    },
  };

  const handleMessage = ({ source, origin: sender, data }: MessageEvent<Fields | null>) => {
    // A page with an opaque origin cannot be answered.
    if (source !== parent || sender === 'null' || (origin && sender !== origin)) return;
    if (allowedOrigins && !allowed.has(sender)) return;
    if (data?.['channel'] !== CHANNEL || data['version'] !== VERSION) return;
    const { type, session: messageSession } = data;
    if (!isFilled(messageSession) || !isFilled(type) || !Object.hasOwn(handlers, type)) return;
    if (type === 'open' || messageSession === session) {
      handlers[type as keyof LauncherMessages](data, messageSession, sender);
    }
  };

  const capabilities = new Set(options.capabilities);
  if (options.onSave) capabilities.add('save');
  if (options.onConfigure) capabilities.add('configure');
  addEventListener('message', handleMessage);
  post({ type: 'hello', ...(capabilities.size && { capabilities: [...capabilities] }) }, '*');
  return {
    ...channelOf(() => session),
    disconnect: () => {
      removeEventListener('message', handleMessage);
      endSession();
    },
  };
}

/**
 * Makes the methods by which an editor reports about a plugin. `send` returns `false` if that is no longer the one that is
 * open.
 */
function createChannel(
  send: <Type extends ReportType>(type: Type, fields: EditorMessages[Type]) => boolean,
  awaitToken: () => Promise<RenewedToken>,
  assist: PluginChannel['assist'],
): PluginChannel & ReportMethods {
  return {
    ready: ({ language, exists, permissions } = {}) =>
      void send('ready', { language, exists, permissions } as PluginDetails),
    error: (message) => void send('error', { message }),
    dirty: (dirty) => void send('dirty', { dirty }),
    save: () => void send('save', {}),
    build: ({ succeeded, outputLog }) => void send('build', { succeeded, outputLog }),
    test: ({ name, result, error, passed }) =>
      void send('test', { name, result, error, passed } as EditorMessages['test']),
    // The version takes the place of the protocol's.
    deploy: ({ version, unchanged }) =>
      void send('deploy', { version, unchanged } as EditorMessages['deploy']),
    live: ({ version }) => void send('live', { version }),
    requestToken: async (reason) => {
      if (!send('token-request', { reason })) throw new Error('closed');
      return awaitToken();
    },
    assist,
  };
}

/** What the assistant answers to one request. */
class Answer {
  #parts: AssistantPart[] = [];
  #end: { error: Error | undefined } | undefined;
  #wake = () => {};

  add(part: AssistantPart): void {
    this.#parts.push(part);
    this.#wake();
  }

  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *parts(): AsyncGenerator<AssistantPart> {
    for (;;) {
      yield* this.#parts.splice(0);
      if (this.#parts.length) continue;
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

type Fields = Record<string, unknown>;

/** The messages that a channel has a method for. */
type ReportType = Exclude<keyof EditorMessages, 'hello' | 'save-result' | 'assist' | 'assist-stop'>;

/** Makes the compiler report a message without a method. The method of `token-request` is `requestToken`. */
type ReportMethods = Record<Exclude<ReportType, 'token-request'>, (...args: never[]) => void>;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

// Fields that are not what the protocol says are left out of what a message is read as.

const isFilled = (value: unknown): value is string => isText(value) && value !== '';

/** Returns `undefined` for a message without the fields that opening a plugin needs. */
function readOpen(data: Fields): PluginToOpen | undefined {
  const { builder, ident, namespace, fn, template, initialSource } = data;
  const token = readToken(data);
  if (!token || !isFilled(builder) || !isFilled(ident) || !isFilled(namespace) || !isFilled(fn))
    return undefined;
  const { lang, contents } = Object(initialSource) as Fields;
  return {
    builder,
    ident,
    namespace,
    fn,
    ...token,
    ...(isFilled(template) && { template }),
    ...(isFilled(lang) && isText(contents) && { initialSource: initialSource as InitialSource }),
    ...(readSettings(data) as EditorSettings),
  };
}

function readToken({ token, expiresAt }: Fields): RenewedToken | undefined {
  return isFilled(token) ? { token, ...(isFilled(expiresAt) && { expiresAt }) } : undefined;
}

/** Reads each setting that is not `null`. One of another type is `undefined`, and counts as missing. */
const SETTINGS: { [Name in keyof EditorSettings]-?: (value: unknown) => EditorSettings[Name] } = {
  locale: (value) => (isFilled(value) ? value : undefined),
  readOnly: (value) => (isFlag(value) ? value : undefined),
  appearance: (value) => (typeof value === 'object' && value ? readAppearance(value) : undefined),
  assistant: (value) => (isFlag(value) ? value : undefined),
};

const readSettings = (from: Fields): EditorSettingsChange =>
  Object.fromEntries(
    Object.entries(SETTINGS).flatMap(([name, read]) => {
      const value = from[name] === null ? null : read(from[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );

const COLOR = /^rgb\(\d{1,3}, \d{1,3}, \d{1,3}\)$/;

/** What the fields of `appearance` look like, so that they are safe in a style sheet. */
const APPEARANCE: { [Name in keyof Appearance]-?: RegExp } = {
  colorScheme: /^(light|dark)$/,
  accent: COLOR,
  background: COLOR,
  color: COLOR,
  border: COLOR,
  font: /^[\p{L}\p{N} ,"'_-]{1,500}$/u,
  radius: /^[\d.]{1,9}px$/,
};

const readAppearance = (from: object): Appearance =>
  Object.fromEntries(
    Object.entries(APPEARANCE).flatMap(([name, pattern]) => {
      const value = (from as Fields)[name];
      return isText(value) && pattern.test(value) ? [[name, value]] : [];
    }),
  );
