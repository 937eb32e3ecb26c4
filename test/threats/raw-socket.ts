import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawResponses {
  /** The status of each response that came, in order; more than one for bytes that were taken for several requests. */
  statuses: number[];
  /** All that came. */
  text: string;
}

/**
 * Sends bytes as they are, and reads until the server closes the connection: they must hold something that it refuses,
 * or end in a {@link lastRequest}. (It would give up what is pending if we closed our side.)
 */
export async function sendRaw(port: number, bytes: string): Promise<RawResponses> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  // A server that refuses may close before it has read everything: what it answered first counts.
  socket.on('error', () => {});
  socket.write(bytes);
  await once(socket, 'close');
  return { statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)), text };
}

/** The bytes of a request after whose response the server closes the connection. */
export const lastRequest = (lines: readonly string[], body = ''): string =>
  requestBytes([...lines, 'Connection: close'], body);

/** The bytes of a request; `lines` are its request line and its headers. */
export const requestBytes = (lines: readonly string[], body = ''): string =>
  `${lines.join('\r\n')}\r\n\r\n${body}`;
