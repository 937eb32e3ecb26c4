// What is used of Node's HTTP server, so that an application for workers, which has no types of Node, can compile against
// these. Node's own classes, and what Express and its kin make of them, fit.

/** A request as `node:http` gives it, and what Express and its kin may have added. */
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

/** An answer as `node:http` writes it. */
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
