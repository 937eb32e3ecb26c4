/** The editor's half of the frame protocol, for the page in the frame. */
import {
  CHANNEL,
  type EditorMessage,
  type PluginToOpen,
  type TokenRequestReason,
  VERSION,
} from './core/messages.ts';
import { parseOrigins } from './core/origins.ts';

export type { PluginToOpen, TokenRequestReason } from './core/messages.ts';

/** A new token for the plugin that is open. */
export interface RenewedToken {
  token: string;
  /** ISO 8601, by the clock of this machine; missing when nothing tells. */
  expiresAt?: string;
}

export interface LauncherOptions {
  /**
   * A plugin is to be opened, in place of the one before. `plugin` speaks about this plugin alone: what is said through
   * it after another plugin was opened is dropped. What this throws or rejects with is said as `plugin.error()`.
   */
  onOpen: (open: PluginToOpen, plugin: PluginChannel) => void | Promise<void>;
  /** The launcher has a new token for the plugin that is open. */
  onToken?: (token: RenewedToken) => void;
  /** The user signed out: forget the token and the plugin. */
  onClose?: () => void;
  /** What this editor can do: `open`, to go from one plugin to another without loading anew. */
  capabilities?: readonly string[];
  /**
   * Origins of the pages that may open plugins here, such as `https://app.example.com`; what any other page posts is
   * ignored. Recommended: by default every page that frames the editor can have it open a plugin and take a token.
   */
  allowedOrigins?: readonly string[];
}

/** What an editor says about a plugin. */
export interface PluginChannel {
  /** The plugin is loaded and can be edited. */
  ready(): void;
  /** It cannot be opened; `message` is shown to the user where the page has no text of its own for that. */
  error(message: string): void;
  /** Whether there is work that is not saved. */
  dirty(dirty: boolean): void;
  /** The draft was saved. */
  save(): void;
  /** A build ended. */
  build(build: { succeeded: boolean; outputLog: string }): void;
  /** A test run ended. */
  test(test: { name?: string; result?: string; error?: unknown }): void;
  /** A version was deployed. */
  deploy(deploy: { version: string }): void;
  /**
   * Asks for a new token. Rejects with an `Error` whose message is the launcher's code when there is none to be had, or
   * when another plugin is opened or this one closed meanwhile.
   */
  requestToken(reason: TokenRequestReason): Promise<RenewedToken>;
}

/** The same, always about the plugin opened last; before the first `open` nothing is said. */
export interface Launcher extends PluginChannel {
  /** Stops listening. */
  disconnect(): void;
}

interface Waiting {
  resolve(token: RenewedToken): void;
  reject(error: Error): void;
}

/**
 * Greets the launcher and answers with what speaks to it, or with `undefined` outside a frame, where it does nothing.
 * Messages are taken only from the parent window, with `allowedOrigins` only from these, and, from the first `open` on,
 * only from its origin. Nothing but the greeting is posted before that, or to another origin. Throws TypeError when an
 * entry of `allowedOrigins` is not an origin; the message names it.
 */
export function connectLauncher(options: LauncherOptions): Launcher | undefined {
  const allowed = options.allowedOrigins === undefined ? undefined : parseOrigins(options.allowedOrigins);
  const { parent } = window;
  if (parent === window) return undefined;
  let origin: string | undefined;
  let session: string | undefined;
  let waiting: Waiting[] = [];

  // By way of JSON, as what an editor hands on, such as an error, may hold what cannot be posted.
  const post = (message: EditorMessage, target = origin) =>
    target &&
    parent.postMessage(
      JSON.parse(JSON.stringify({ channel: CHANNEL, version: VERSION, ...message })),
      target,
    );

  const settleWaiting = (act: (one: Waiting) => void) => {
    const all = waiting;
    waiting = [];
    all.forEach(act);
  };
  const rejectWaiting = (why: string) => settleWaiting((one) => one.reject(new Error(why)));

  const channel = (own: () => string | undefined): PluginChannel => {
    const say = (message: Record<string, unknown> & { type: Exclude<EditorMessage['type'], 'hello'> }) => {
      const about = own();
      if (about && about === session) post({ ...message, session: about } as EditorMessage);
      return about && about === session;
    };
    return {
      ready: () => void say({ type: 'ready' }),
      error: (message) => void say({ type: 'error', message }),
      dirty: (dirty) => void say({ type: 'dirty', dirty }),
      save: () => void say({ type: 'save' }),
      build: ({ succeeded, outputLog }) => void say({ type: 'build', succeeded, outputLog }),
      test: ({ name, result, error }) => void say({ type: 'test', name, result, error }),
      // Its version takes the protocol's place.
      deploy: ({ version }) => void say({ type: 'deploy', version }),
      requestToken: (reason) =>
        new Promise((resolve, reject) => {
          if (say({ type: 'token-request', reason })) waiting.push({ resolve, reject });
          else reject(new Error('closed'));
        }),
    };
  };

  const handleMessage = ({ source, origin: from, data }: MessageEvent<Record<string, unknown> | null>) => {
    // A page without an origin cannot be answered.
    if (source !== parent || from === 'null' || (origin && from !== origin)) return;
    if (allowed && !allowed.has(from)) return;
    if (data?.['channel'] !== CHANNEL || data['version'] !== VERSION) return;
    const { type, session: about } = data;
    if (typeof about !== 'string') return;
    if (type === 'open') {
      const open = readOpen(data);
      if (!open) return;
      origin = from;
      session = about;
      rejectWaiting('closed');
      const plugin = channel(() => about);
      // What goes wrong unforeseen is said as well: else the user is told of a time-out. First it goes to the console, as
      // the launcher takes the frame out.
      (async () => options.onOpen(open, plugin))().catch((error: unknown) => {
        reportError(error);
        plugin.error(error instanceof Error ? error.message : String(error));
      });
    } else if (about !== session) {
      return;
    } else if (type === 'token' && isText(data['token'])) {
      const token = withEnd({ token: data['token'] }, data);
      settleWaiting((one) => one.resolve(token));
      options.onToken?.(token);
    } else if (type === 'token-failed') {
      rejectWaiting(String(data['code']));
    } else if (type === 'close') {
      session = undefined;
      rejectWaiting('closed');
      options.onClose?.();
    }
  };

  const sendHello = () => {
    const { capabilities } = options;
    post({ type: 'hello', ...(capabilities && { capabilities: [...capabilities] }) }, '*');
  };

  addEventListener('message', handleMessage);
  sendHello();
  return {
    ...channel(() => session),
    disconnect: () => {
      removeEventListener('message', handleMessage);
      session = undefined;
      rejectWaiting('closed');
    },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The check of an `open` is by hand, as this module is to stay small; it is tested against what the launcher sends. */
function readOpen(data: Record<string, unknown>): PluginToOpen | undefined {
  const { builder, ident, namespace, fn, template, token } = data;
  if (![builder, ident, namespace, fn, token].every(isText)) return undefined;
  const open = { builder, ident, namespace, fn, token } as PluginToOpen;
  return withEnd(isText(template) ? { ...open, template } : open, data);
}

const withEnd = <T extends object>(value: T, { expiresAt }: Record<string, unknown>) =>
  isText(expiresAt) ? { ...value, expiresAt } : value;
