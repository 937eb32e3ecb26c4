import { read, writeSync } from 'node:fs';
import { promisify } from 'node:util';

/*
 * A client of the Language Server Protocol, as far as it is needed here. The server is TypeScript's own: the native program that
 * the service has connected to descriptors 0 and 1 of this process.
 */

const fromServer = 0;
const toServer = 1;

const readServer = promisify(read);

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The capabilities of this client. The server leaves out of its results what is not named here. */
const capabilities = {
  textDocument: {
    completion: {
      completionItem: {
        documentationFormat: ['markdown'],
        snippetSupport: false,
        resolveSupport: { properties: ['documentation', 'detail'] },
      },
    },
    hover: { contentFormat: ['markdown'] },
    signatureHelp: { signatureInformation: { documentationFormat: ['markdown'] } },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix'] } } },
    rename: {},
    diagnostic: { relatedInformation: true },
    publishDiagnostics: { relatedInformation: true },
  },
};

/** A plugin can import nothing. The server must not install missing types: it would create folders for them. */
const userPreferences = { disableAutomaticTypeAcquisition: true, includeCompletionsForModuleExports: false };

/** The server takes no lone surrogates. The character that replaces one has the same length. */
const withWellFormedText = (_: string, value: unknown) =>
  typeof value === 'string' ? value.toWellFormed() : value;

/** TypeScript's language server. It only knows files that were opened by a notification: see `plugin-files.ts`. */
export class LanguageServer {
  #nextId = 0;
  #received = Buffer.alloc(0);
  readonly #waiting = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();

  /** Begins to read messages, and initializes the server. `root`: the URI of the folder that the files are in. */
  async start(root: string): Promise<void> {
    void this.#readAll();
    await this.request('initialize', {
      processId: null,
      rootUri: root,
      capabilities,
      initializationOptions: { userPreferences },
    });
    this.notify('initialized', {});
  }

  /** Sends a request. Resolves with the result, or rejects with the server's error. */
  request(method: string, params: object): Promise<unknown> {
    const id = ++this.#nextId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message }, withWellFormedText);
    const bytes = Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    for (let sent = 0; sent < bytes.length;) sent += writeSync(toServer, bytes, sent);
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const { bytesRead, buffer } = await readServer(fromServer, Buffer.allocUnsafe(65_536), 0, 65_536, null);
      // The server has ended. The service notices, and ends this process.
      if (!bytesRead) return;
      this.#received = Buffer.concat([this.#received, buffer.subarray(0, bytesRead)]);
      for (let body = this.#takeBody(); body; body = this.#takeBody()) {
        this.#handleMessage(JSON.parse(body.toString()) as Message);
      }
    }
  }

  #takeBody(): Buffer | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const length = Number(/Content-Length: (\d+)/i.exec(this.#received.toString('latin1', 0, end))?.[1]);
    const start = end + 4;
    if (this.#received.length < start + length) return undefined;
    const body = this.#received.subarray(start, start + length);
    this.#received = this.#received.subarray(start + length);
    return body;
  }

  #handleMessage({ id, method, result, error }: Message): void {
    if (method !== undefined) {
      // The server's own requests, such as to register for changes of settings, are granted; its notifications are ignored.
      if (id !== undefined) this.#send({ id, result: null });
      return;
    }
    if (typeof id !== 'number') return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }
}
