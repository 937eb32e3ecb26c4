import crypto from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

/*
 * Loaded into a process before its own code (`--import`): writes down each secret as it is made, and all that the
 * process's HTTP servers are asked and answer. The code that runs is the real one; this only watches it.
 */

export type SecretKind = 'environment token' | 'editor token' | 'cookie key' | 'code';

/** One line of what is written. Texts are Latin-1: a character for each byte. */
export type Recorded =
  | { secret: SecretKind; text: string }
  | {
      port: number;
      method: string;
      address: string;
      headers: Record<string, string>;
      status: number;
      responseHeaders: string;
      body: string;
    };

/** What prints its value on a signal, so that a test can see that it would see it. */
export const SAY = 'RECORDER_SAYS';

const file = process.env['RECORD_TO'];

/** Which secret 32 random bytes are for is told by who asks for them. */
const makers: [file: RegExp, kind: SecretKind][] = [
  [/environment-token\.[jt]s/, 'environment token'],
  [/http\/access\.[jt]s/, 'editor token'],
  [/vendor\/store\.ts/, 'cookie key'],
];

function record(line: Recorded): void {
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

function watchSecrets(): void {
  const { randomBytes, randomInt } = crypto;
  Object.assign(crypto, {
    randomBytes(...parameters: [number]) {
      const bytes = randomBytes(...parameters);
      const stack = new Error().stack ?? '';
      const kind = parameters[0] === 32 && makers.find(([maker]) => maker.test(stack))?.[1];
      if (kind) record({ secret: kind, text: bytes.toString('base64url') });
      return bytes;
    },
    randomInt(...parameters: [number]) {
      const number = randomInt(...parameters);
      if (parameters[0] === 1_000_000) record({ secret: 'code', text: String(number).padStart(6, '0') });
      return number;
    },
  });
  // Those who import them by name get these, too.
  syncBuiltinESMExports();
}

function watchServers(): void {
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const { localPort: port = 0 } = request.socket;
    const parts: Buffer[] = [];
    const keep = (chunk: unknown) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) parts.push(Buffer.from(chunk as string));
    };
    const write = response.write.bind(response);
    const end = response.end.bind(response);
    response.write = (...parameters: unknown[]) => {
      keep(parameters[0]);
      return Reflect.apply(write, response, parameters) as boolean;
    };
    response.end = (...parameters: unknown[]) => {
      keep(parameters[0]);
      return Reflect.apply(end, response, parameters) as ServerResponse;
    };
    response.once('close', () => {
      const { method = '', url: address = '', headers } = request;
      record({
        port,
        method,
        address,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        status: response.statusCode,
        // As they were sent: what `writeHead` was given is in no other place.
        responseHeaders: String(Reflect.get(response, '_header')),
        body: Buffer.concat(parts).toString('latin1'),
      });
    });
  });
}

if (file) {
  watchSecrets();
  watchServers();
  process.on('SIGUSR2', () => console.error(process.env[SAY]));
}
