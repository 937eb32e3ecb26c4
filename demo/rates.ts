import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one euro is in other currencies. */
const rates: Readonly<Record<string, number>> = { USD: 1.08, GBP: 0.85, CHF: 0.96 };

export interface RateService {
  origin: string;
  /** Requests without it are refused. Plugins never see it. */
  key: string;
  close: () => void;
}

/**
 * Serves exchange rates on loopback: the API of somebody else, for which the vendor has a key.
 * @param preferred the port; where it is in use, any that is free
 */
export async function startRateService(preferred: number): Promise<RateService> {
  const key = randomBytes(24).toString('base64url');
  const expected = Buffer.from(`Bearer ${key}`);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const given = Buffer.from(request.headers.authorization ?? '');
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return answer(401, { error: 'Which key?' });
    const url = URL.parse(request.url ?? '', 'http://rates');
    const currency = url?.pathname === '/latest' ? (url.searchParams.get('currency') ?? '') : '';
    if (!Object.hasOwn(rates, currency)) return answer(404, { error: 'There is no such rate.' });
    answer(200, { currency, rate: rates[currency] });
  });
  const bind = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await bind(preferred).catch(() => bind(0));
  server.on('error', () => {});
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    key,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
