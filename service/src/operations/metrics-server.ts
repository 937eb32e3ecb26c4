import { isIP } from 'node:net';
import { hostname as machineName } from 'node:os';

/** Makes the response with all metrics. */
export interface MetricsSource {
  toResponse(): Promise<Response>;
}

/**
 * Handles `GET /metrics` and nothing else, on a port that only the operator of the service should be able to reach. `Host` has to
 * be an IP address, `localhost`, the name of the machine or one of `hosts`: a page at a foreign name that resolves to this machine
 * gets nothing.
 */
export const metricsHandler = (metrics: MetricsSource, hosts: readonly string[] = []) => ({
  fetch: async (request: Request): Promise<Response> => {
    const { hostname, pathname } = new URL(request.url);
    if (!isKnown(hostname, hosts)) {
      return text(
        421,
        'This Host is not known: use an IP address, localhost, METRICS_HOST or one of ALLOWED_HOSTS.',
      );
    }
    if (pathname !== '/metrics') return text(404, 'Metrics are at /metrics.');
    if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'Only GET is possible here.');
    return metrics.toResponse();
  },
  refuse: () => text(400, 'The request is malformed.'),
});

function isKnown(host: string, hosts: readonly string[]): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(name) || name === 'localhost' || name.endsWith('.localhost')) return true;
  return [machineName(), ...hosts].some((one) => one.toLowerCase().replace(/:\d+$/, '') === name);
}

const text = (status: number, message: string) =>
  new Response(`${message}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
