// The parts of Node's HTTP server that are used here. They are declared, because an application for workers has no types of
// Node. Node's own classes fit them, and so do those of Express and similar frameworks.

/** A request of `node:http`, with the fields that Express and similar frameworks may add. */
export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  headers: {
    readonly [name: string]: string | string[] | undefined;
    readonly authorization?: string | undefined;
    readonly cookie?: string | undefined;
    readonly host?: string | undefined;
    readonly origin?: string | undefined;
  };
  socket: object;
  /** Whether any of the body was read. */
  readonly readableDidRead?: boolean;
  iterator(options: { destroyOnReturn: boolean }): AsyncIterator<unknown, unknown, unknown>;
  resume(): unknown;
  body?: unknown;
  originalUrl?: string;
  protocol?: string;
}

/** A response of `node:http`. */
export interface NodeResponse {
  statusCode: number;
  statusMessage: string;
  readonly headersSent: boolean;
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
  end(body: Uint8Array): unknown;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}
