import { texts } from '../locales/locale.ts';
import type { Transport } from '@codemirror/lsp-client';
import { HttpError } from 'plugin-editor/client.js';
import type { SendHelpRequest } from './service-request.ts';
import { type HelpMethod, isHelpMethod } from './results.ts';

/** The longest text that the service helps with, in UTF-16 code units. */
const LONGEST = 262_144;

interface Message {
  id?: number;
  method: string;
  params: {
    id?: number;
    /** Asked for by a command: where there is no answer, it is to be told why. */
    byCommand?: boolean;
    textDocument?: { uri: string; languageId?: string; text?: string };
    contentChanges?: { text: string }[];
  };
}

/** The protocol's code of a request that was taken back. */
const REQUEST_CANCELLED = -32_800;
const REQUEST_FAILED = -32_803;

/** What CodeMirror's client is told that the server can do. Texts are sent whole. */
const capabilities = {
  textDocumentSync: 1,
  completionProvider: {},
  hoverProvider: true,
  signatureHelpProvider: { triggerCharacters: ['(', ',', '<'], retriggerCharacters: [')'] },
};

/** What is asked by the way, while one types or points: that it has no answer is nothing to be told. */
const askedInPassing: ReadonlySet<string> = new Set([
  'completionItem/resolve',
  'textDocument/hover',
  'textDocument/signatureHelp',
]);

export interface TransportOptions {
  ask: SendHelpRequest;
  /** The service has no help to give: it is not asked again. */
  onUnable: () => void;
}

/**
 * Stands between CodeMirror's client of the Language Server Protocol, which believes in a connection with a memory, and the
 * service, which answers single requests: keeps the text, and sends it with each. A newer request takes back the former one of
 * its kind.
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
        // Not now: whoever sends does not expect to be answered before it has sent.
        queueMicrotask(() => this.#answer(id, { result: { capabilities } }));
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
        if (id !== undefined) void this.#ask(id, method, params);
    }
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort();
  }

  /** A service that nobody has asked for a while has to start what answers: that is not to be waited for by who types. */
  async #warmUp(): Promise<void> {
    const place = { params: { position: { line: 0, character: 0 } }, signal: new AbortController().signal };
    const question = { lang: this.#lang, contents: '', method: 'textDocument/hover', ...place } as const;
    // It is asked again when there is something to ask.
    await this.#options.ask(question).catch(() => undefined);
  }

  #change(text = ''): void {
    // One that stands alone within a line is none of this editor's line breaks, but would be one to the service.
    this.#text = text.replaceAll('\r', ' ');
  }

  async #ask(id: number, method: string, { byCommand, ...params }: Message['params']): Promise<void> {
    // There is one text, which goes along; its name does not.
    delete params.textDocument;
    // The client would write it to the console.
    const isQuiet = !byCommand && askedInPassing.has(method);
    if (!isHelpMethod(method)) return this.#fail(id, isQuiet, texts().languageHelp.unknown);
    this.#running.get(method)?.abort.abort();
    const abort = new AbortController();
    this.#running.set(method, { id, abort });
    try {
      // Nothing is offered then; this is a key that was pressed before that was known.
      if (!this.#isAble) throw new Error(texts().languageHelp.refused);
      if (this.#text.length > LONGEST) throw new Error(texts().languageHelp.tooLong);
      const { signal } = abort;
      const question = { lang: this.#lang, contents: this.#text, method, params, signal };
      const result = await this.#options.ask(question);
      signal.throwIfAborted();
      this.#answer(id, { result });
    } catch (error) {
      if (abort.signal.aborted)
        return this.#fail(id, isQuiet, texts().languageHelp.cancelled, REQUEST_CANCELLED);
      if (error instanceof HttpError && [404, 405, 501].includes(error.status)) {
        this.#isAble = false;
        this.#options.onUnable();
      }
      this.#fail(id, isQuiet, inWords(method, error));
    } finally {
      if (this.#running.get(method)?.abort === abort) this.#running.delete(method);
    }
  }

  #fail(id: number, isQuiet: boolean, message: string, code = REQUEST_FAILED): void {
    if (isQuiet) this.#answer(id, { result: null });
    else this.#answer(id, { error: { code, message } });
  }

  #answer(id: number | undefined, answer: object): void {
    const message = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
    for (const handler of this.#handlers) handler(message);
  }
}

function inWords(method: HelpMethod, error: unknown): string {
  if (!(error instanceof HttpError)) return error instanceof Error ? error.message : String(error);
  if (error.status === 422 && method === 'textDocument/rename') {
    return texts().languageHelp.names;
  }
  return error.status === 422 ? texts().languageHelp.refused : texts().languageHelp.unreachable;
}
