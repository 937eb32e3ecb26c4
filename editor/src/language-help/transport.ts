import type { Transport } from '@codemirror/lsp-client';
import {
  type BuilderClient,
  type DraftLocation,
  HttpError,
  RequestError,
  SchemaError,
  TimeoutError,
} from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { type HelpMethod, type HelpResult, helpResults, isHelpMethod } from './results.ts';

/** The longest text that the service helps with, in UTF-16 code units. */
const MAX_TEXT_LENGTH = 262_144;

interface Message {
  id?: number;
  method: string;
  params: {
    id?: number;
    /** A command of the user sent it, so that a failure is reported to the user. */
    byCommand?: boolean;
    textDocument?: { uri: string; languageId?: string; text?: string };
    contentChanges?: { text: string }[];
  };
}

/** The protocol's error codes. The client may send a request again that the server cancelled. */
const REQUEST_CANCELLED = -32_800;
export const SERVER_CANCELLED = -32_802;
const REQUEST_FAILED = -32_803;

/** The capabilities of the server that are announced to CodeMirror's client. `textDocumentSync: 1`: texts are sent whole. */
const capabilities = {
  textDocumentSync: 1,
  completionProvider: {},
  hoverProvider: true,
  signatureHelpProvider: { triggerCharacters: ['(', ',', '<'], retriggerCharacters: [')'] },
};

/** The methods that are requested while the user types or points, whose failures are not reported. */
const backgroundMethods: ReadonlySet<string> = new Set([
  'completionItem/resolve',
  'textDocument/hover',
  'textDocument/signatureHelp',
]);

export interface TransportOptions {
  client: Pick<BuilderClient, 'helpWithSource'>;
  location: DraftLocation;
  /** The service has no language help. It is not asked again. */
  onUnable: () => void;
}

/**
 * Connects CodeMirror's client of the Language Server Protocol, which expects a server that keeps the text, with the service,
 * which does not: it keeps the text, and sends it with each request. A newer request cancels the former one of the same method.
 */
export class HelpTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #handlers = new Set<(message: string) => void>();
  readonly #running = new Map<string, { id: number; abort: AbortController }>();
  #lang = '';
  #text = '';
  #isAble = true;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  subscribe(handler: (message: string) => void): void {
    this.#handlers.add(handler);
  }

  unsubscribe(handler: (message: string) => void): void {
    this.#handlers.delete(handler);
  }

  send(message: string): void {
    const { id, method, params } = JSON.parse(message) as Message;
    switch (method) {
      case 'initialize':
        // The client does not expect the response before `send` has returned.
        queueMicrotask(() => this.#respond(id, { result: { capabilities } }));
        break;
      case 'textDocument/didOpen':
        this.#lang = params.textDocument?.languageId ?? '';
        this.#change(params.textDocument?.text);
        void this.#warmUp();
        break;
      case 'textDocument/didChange':
        this.#change(params.contentChanges?.at(-1)?.text);
        break;
      case '$/cancelRequest':
        for (const one of this.#running.values()) if (one.id === params.id) one.abort.abort();
        break;
      default:
        if (id !== undefined) void this.#request(id, method, params);
    }
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort();
  }

  /** Asks the service to start its language server, which takes a while, before the user needs it. */
  async #warmUp(): Promise<void> {
    const params = { position: { line: 0, character: 0 } };
    // A failure is reported with the first request of the user's.
    await this.#send('', 'textDocument/hover', params).catch(() => undefined);
  }

  /** Sends a request with the whole text: the node that answers it need not know the one before. */
  async #send<Method extends HelpMethod>(
    contents: string,
    method: Method,
    params: object,
    signal?: AbortSignal,
  ): Promise<HelpResult<Method>> {
    const { client, location } = this.#options;
    const source = { ...location, language: this.#lang };
    const { result } = await client.helpWithSource(
      source,
      { contents, request: { method, params } },
      { signal },
    );
    const { data, success } = helpResults[method].safeParse(result);
    if (!success) throw new SchemaError(method, 'not a usable value', 'result');
    return data as HelpResult<Method>;
  }

  #change(text = ''): void {
    // A lone `\r` is no line break in this editor, but is one to the service.
    this.#text = text.replaceAll('\r', ' ');
  }

  async #request(id: number, method: string, { byCommand, ...params }: Message['params']): Promise<void> {
    // The service gets the text itself, not its name.
    delete params.textDocument;
    // The client writes errors to the console, so a request in the background gets an empty result instead.
    const isQuiet = !byCommand && backgroundMethods.has(method);
    if (!isHelpMethod(method)) return this.#fail(id, isQuiet, texts().languageHelp.unknown);
    this.#running.get(method)?.abort.abort();
    const abort = new AbortController();
    this.#running.set(method, { id, abort });
    try {
      // Language help is no longer offered then, but this key was pressed before that was known.
      if (!this.#isAble) throw new Error(texts().languageHelp.refused);
      if (this.#text.length > MAX_TEXT_LENGTH) throw new Error(texts().languageHelp.tooLong);
      const { signal } = abort;
      const result = await this.#send(this.#text, method, params, signal);
      signal.throwIfAborted();
      this.#respond(id, { result });
    } catch (error) {
      if (abort.signal.aborted)
        return this.#fail(id, isQuiet, texts().languageHelp.cancelled, REQUEST_CANCELLED);
      if (error instanceof HttpError && [404, 405, 501].includes(error.status)) {
        this.#isAble = false;
        this.#options.onUnable();
      }
      this.#fail(id, isQuiet, failureText(method, error), failureCode(error));
    } finally {
      if (this.#running.get(method)?.abort === abort) this.#running.delete(method);
    }
  }

  /** @param isQuiet whether the client gets an empty result, not the error */
  #fail(id: number, isQuiet: boolean, message: string, code = REQUEST_FAILED): void {
    if (isQuiet) this.#respond(id, { result: null });
    else this.#respond(id, { error: { code, message } });
  }

  #respond(id: number | undefined, response: object): void {
    const message = JSON.stringify({ jsonrpc: '2.0', id, ...response });
    for (const handler of this.#handlers) handler(message);
  }
}

/** The service replaces a process that failed or was too slow, so a second request may succeed. */
const failureCode = (error: unknown): number =>
  error instanceof TimeoutError || (error instanceof HttpError && error.status === 422)
    ? SERVER_CANCELLED
    : REQUEST_FAILED;

/** What the user reads: the messages of the client's errors hold the address, in English. */
function failureText(method: HelpMethod, error: unknown): string {
  const words = texts().languageHelp;
  if (!(error instanceof RequestError)) return error instanceof Error ? error.message : String(error);
  if (!(error instanceof HttpError && error.status === 422)) return words.unreachable;
  return method === 'textDocument/rename' ? words.names : words.refused;
}
