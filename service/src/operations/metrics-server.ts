import type { Metrics } from './metrics.ts';

/** Handles `GET /metrics` and nothing else, on a port that only the operator of the service should be able to reach. */
export const metricsHandler = (metrics: Metrics) => ({
  fetch: async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname !== '/metrics') return text(404, 'Metrics are at /metrics.');
    if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'Only GET is possible here.');
    return metrics.toResponse();
  },
  refuse: () => text(400, 'The request is malformed.'),
});

const text = (status: number, message: string) =>
  new Response(`${message}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
