import { requestBytes } from './raw-socket.ts';

/** A request that is answered with 2xx as it stands. */
export interface FramedRequest {
  /** The request line, and the headers but for those that say how long the body is. */
  lines: readonly string[];
  body: string;
}

const chunked = (body: string, size = body.length.toString(16)) => `${size}\r\n${body}\r\n0\r\n\r\n`;

/**
 * Spellings of a request of which a proxy and a server may read different ends, with `smuggled` behind: to one of them
 * it is part of the body, to the other the next request on the connection, such as another user's.
 */
export function ambiguousFraming(
  { lines, body }: FramedRequest,
  smuggled: string,
): [name: string, bytes: string][] {
  const { length } = body;
  const framed = (headers: readonly string[], sent: string) =>
    requestBytes([...lines, ...headers], sent + smuggled);
  const withLength = (...values: string[]) =>
    framed(
      values.map((value) => `Content-Length:${value}`),
      body,
    );
  const withCoding = (coding: string, ...others: string[]) =>
    framed([`Transfer-Encoding:${coding}`, ...others], chunked(body));
  const inChunks = (sent: string) => framed(['Transfer-Encoding: chunked'], sent);
  const lengthOf = `Content-Length: ${length}`;
  return [
    ['a length beside chunks', withCoding(' chunked', lengthOf)],
    ['chunks beside a length', framed([lengthOf, 'Transfer-Encoding: chunked'], chunked(body))],
    [
      'a length of all there is, beside chunks',
      framed(
        [`Content-Length: ${chunked(body).length + smuggled.length}`, 'Transfer-Encoding: chunked'],
        chunked(body),
      ),
    ],
    ['a space before the colon of the coding', framed(['Transfer-Encoding : chunked', lengthOf], body)],
    ['a coding on a line of its own', withCoding('\r\n chunked', lengthOf)],
    ['a coding that is none', withCoding(' xchunked')],
    ['a coding in quotes', withCoding(' "chunked"')],
    ['a coding after a vertical tab', withCoding(' \u000bchunked')],
    ['identity beside a length', framed(['Transfer-Encoding: identity', lengthOf], body)],
    ['chunks that are not the last coding', withCoding(' chunked, identity')],
    ['two codings', withCoding(' chunked', 'Transfer-Encoding: chunked')],
    ['two codings that differ', withCoding(' chunked', 'Transfer-Encoding: x')],
    ['the same length twice', withLength(` ${length}`, ` ${length}`)],
    ['two lengths', withLength(` ${length}`, ' 0')],
    ['a list of lengths', withLength(` ${length}, ${length}`)],
    ['a length with a plus', withLength(` +${length}`)],
    ['a negative length', withLength(' -1')],
    ['a length in hexadecimal', withLength(` 0x${length.toString(16)}`)],
    ['a length with a fraction', withLength(` ${length}.0`)],
    ['a length past 64 bits', withLength(` ${(2n ** 64n + BigInt(length)).toString()}`)],
    ['a length in two parts', withLength(` ${length} 0`)],
    ['an empty length', withLength('')],
    ['a space before the colon of the length', framed([`Content-Length : ${length}`], body)],
    ['a header on two lines', framed([lengthOf, 'X-A: a\r\n b'], body)],
    ['a length behind a bare line feed', framed([`X-A: a\n${lengthOf}`], body)],
    [
      'a coding behind a bare carriage return',
      framed(['X-A: a\rTransfer-Encoding: chunked', lengthOf], body),
    ],
    ['a coding behind NUL', framed(['X-A: a\0Transfer-Encoding: chunked', lengthOf], body)],
    ['a space in the name of a header', framed([lengthOf, 'X A: b'], body)],
    ['a header without a colon', framed([lengthOf, 'X-A'], body)],
    ['line feeds alone', `${[...lines, lengthOf].join('\n')}\n\n${body}${smuggled}`],
    ['carriage returns alone', `${[...lines, lengthOf].join('\r')}\r\r${body}${smuggled}`],
    ['a chunk with a plus', inChunks(chunked(body, `+${length.toString(16)}`))],
    ['a chunk in 0x', inChunks(chunked(body, `0x${length.toString(16)}`))],
    ['a chunk past 64 bits', inChunks(chunked(body, `1${length.toString(16).padStart(16, '0')}`))],
    ['a chunk with a space behind its size', inChunks(chunked(body, `${length.toString(16)} `))],
    ['a line feed in the extension of a chunk', inChunks(chunked(body, `${length.toString(16)};a\nb`))],
    ['chunks of line feeds', inChunks(chunked(body).replaceAll('\r\n', '\n'))],
    ['a chunk that ends without a line break', inChunks(`${length.toString(16)}\r\n${body}0\r\n\r\n`)],
    ['a chunk longer than its size', inChunks(chunked(body, (length - 1).toString(16)))],
    [
      'a length behind the last chunk',
      inChunks(`${length.toString(16)}\r\n${body}\r\n0\r\nContent-Length: 5\r\n\r\n`),
    ],
  ];
}
