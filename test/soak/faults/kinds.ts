import { resetConnection } from '../../support/reset-connection.ts';
import type { ExchangeHandler, Exchange } from './proxy.ts';

/**
 * What a fault comes to for whoever asked: no connection, no whole answer in time, a problem of the server's (in passing
 * or for good), too much to do for a moment, a response that is none, or a pointer to another address.
 */
export type Effect = 'lost' | 'late' | 'failed-once' | 'failed' | 'busy' | 'unusable' | 'redirected';

export interface Fault {
  name: string;
  effect: Effect;
  /** What the server answers; else the fault is none of the server's answers. */
  handle?: ExchangeHandler;
  /** The server behind does what it is asked for, and only the response is spoilt. */
  isDone?: true;
  /** What befalls more than one request. */
  whole?: 'refused' | 'offline' | 'killed';
}

/** Where a redirect leads; a token must not follow it. */
export const ELSEWHERE = '/elsewhere';
/** How long a busy server asks to wait, in seconds. */
export const RETRY_AFTER = 2;

const LARGE = 10 * 2 ** 20;

/** A page of another origin may read it, as it may what the real service answers. */
const reply = ({ req, res }: Exchange, status: number, type: string, body: string, more = {}): void => {
  const cors = { 'access-control-allow-origin': req.headers.origin ?? '*', vary: 'origin' };
  const exposed = { 'access-control-expose-headers': 'retry-after' };
  res.writeHead(status, { 'content-type': type, connection: 'close', ...cors, ...exposed, ...more });
  res.end(body);
};

const json = (exchange: Exchange, status: number, value: unknown, more = {}): void =>
  reply(exchange, status, 'application/json', JSON.stringify(value), more);

const problem = (exchange: Exchange, status: number, more = {}): void =>
  json(exchange, status, { error: { code: 'fault', message: 'Upstream exploded' } }, more);

/** The real answer, as far as `send` lets it through. */
const spoilt =
  (send: (exchange: Exchange, body: Buffer) => void): ExchangeHandler =>
  async (exchange) => {
    const { status, headers, body } = await exchange.forward();
    delete headers['content-length'];
    delete headers['transfer-encoding'];
    const length = { 'content-length': `${body.length}` };
    exchange.res.writeHead(status, { ...headers, ...length, connection: 'close' });
    exchange.res.flushHeaders();
    send(exchange, body);
  };

/** All fields that any step asks for, so that only the size is wrong. */
const everything = {
  token: 't',
  contents: '',
  lang: 'javascript',
  features: [],
  languages: [],
  succeeded: true,
  outputLog: '',
  version: 'v9.9.9',
  result: '',
};

export const FAULTS: readonly Fault[] = [
  { name: 'refused', effect: 'lost', whole: 'refused' },
  {
    name: 'reset midway',
    effect: 'lost',
    isDone: true,
    handle: spoilt(({ req, res }, body) => {
      res.write(body.subarray(0, body.length / 2), () => resetConnection(req.socket));
    }),
  },
  { name: 'hang', effect: 'late', handle: () => {} },
  {
    name: 'slow drip',
    effect: 'late',
    isDone: true,
    // The first half at a byte in 50 ms, and never the second.
    handle: spoilt(({ res }, body) => {
      let sent = 0;
      const drip = setInterval(() => {
        if (sent < body.length / 2) res.write(body.subarray(sent, ++sent));
      }, 50);
      res.on('close', () => clearInterval(drip));
    }),
  },
  {
    name: '500 once',
    effect: 'failed-once',
    handle: (exchange) => (exchange.nth === 1 ? problem(exchange, 500) : exchange.pass()),
  },
  { name: '500 for ever', effect: 'failed', handle: (exchange) => problem(exchange, 500) },
  {
    name: '429 with Retry-After',
    effect: 'busy',
    handle: (exchange) =>
      exchange.nth === 1 ? problem(exchange, 429, { 'retry-after': `${RETRY_AFTER}` }) : exchange.pass(),
  },
  {
    name: '429 without Retry-After',
    effect: 'busy',
    handle: (exchange) => (exchange.nth === 1 ? problem(exchange, 429) : exchange.pass()),
  },
  {
    name: 'truncated JSON',
    effect: 'unusable',
    isDone: true,
    handle: async (exchange) => {
      const { body } = await exchange.forward();
      reply(exchange, 200, 'application/json', body.subarray(0, body.length / 2).toString());
    },
  },
  {
    name: 'wrong type',
    effect: 'unusable',
    handle: (exchange) =>
      reply(exchange, 200, 'text/html', '<!doctype html><title>Welcome</title><h1>Wi-Fi</h1>'),
  },
  {
    name: 'redirect elsewhere',
    effect: 'redirected',
    handle: (exchange) => reply(exchange, 302, 'text/plain', '', { location: ELSEWHERE }),
  },
  {
    name: 'empty body',
    effect: 'unusable',
    handle: (exchange) => reply(exchange, 200, 'application/json', ''),
  },
  {
    name: '10 MB body',
    effect: 'unusable',
    handle: (exchange) => {
      const padding = 'x'.repeat(LARGE);
      // As a page it is one to be read, not one to be laid out for minutes.
      if (!exchange.req.url?.startsWith('/editor/')) return json(exchange, 200, { ...everything, padding });
      reply(exchange, 200, 'text/html', `<!doctype html><title>Welcome</title><!-- ${padding} -->`);
    },
  },
  { name: 'offline then online', effect: 'lost', whole: 'offline' },
  { name: 'killed and restarted', effect: 'lost', whole: 'killed' },
];
