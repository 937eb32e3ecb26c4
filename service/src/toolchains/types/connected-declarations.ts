import type { Connection } from '../../plugins/connections.ts';

/** Text that can stand in a comment of one line. */
const inComment = (text: string): string => text.replaceAll('*/', '*\u200b/').replaceAll(/\s+/g, ' ').trim();

const describe = ({ name, description, origin, pathPrefix = '', methods = ['GET'] }: Connection): string => {
  const what = `${methods.join(', ')} ${origin}${pathPrefix} (${name})`;
  return inComment(description ? `${what}: ${description}` : what);
};

/** The globals of plugins that may make calls, whose comments say which. */
export const connectedDeclarations = (connections: readonly Connection[]): string => `
/** The response to a call. A redirect is a response, too: it is not followed. */
interface Response {
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: Headers;
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  json(): Promise<any>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  arrayBuffer(): Promise<ArrayBuffer>;
}
interface ResponseOptions {
  /** 200 by default. */
  status?: number;
  statusText?: string;
  headers?: Headers | Readonly<Record<string, string>> | Iterable<readonly string[]>;
}
declare const Response: {
  readonly prototype: Response;
  new (body?: string | URLSearchParams | BufferSource | null, options?: ResponseOptions): Response;
};
interface FetchOptions {
  /** GET by default. */
  method?: string;
  headers?: Headers | Readonly<Record<string, string>> | Iterable<readonly string[]>;
  body?: string | URLSearchParams | BufferSource | null;
}
/**
 * Makes a call, inside of \`run\`. What cannot be reached rejects with a TypeError that has a \`code\`.
 *
 * May reach:
${connections.map((connection) => ` * - ${describe(connection)}`).join('\n')}
 */
declare function fetch(url: string | URL, options?: FetchOptions): Promise<Response>;
/** Calls a function after some milliseconds, inside of \`run\`. */
declare function setTimeout(task: (...given: any[]) => void, delay?: number, ...given: any[]): number;
declare function clearTimeout(id?: number): void;
`;
