import type { CallMock, PluginTest, RecordedCall } from 'plugin-editor/client.js';

/** The responses to calls that a test has. What another program wrote there may be anything. */
export const mocksOf = ({ calls }: PluginTest): readonly CallMock[] =>
  Array.isArray(calls) ? calls.map(toMock) : [];

/** Those of the responses that are sent with a run: a row without an address is not written yet. */
export function sentMocks(calls: unknown): CallMock[] | undefined {
  const sent = mocksOf({ calls }).filter(({ url }) => url);
  return sent.length > 0 ? sent : undefined;
}

function toMock(value: unknown): CallMock {
  const mock = (typeof value === 'object' && value !== null ? value : {}) as Partial<CallMock>;
  if (typeof mock.url === 'string' && typeof mock.response === 'object' && mock.response !== null)
    return mock as CallMock;
  return { ...mock, url: '', response: {} };
}

/** The responses to calls, for a test: of those of which the whole response is known. */
export const recordedMocks = (calls: readonly RecordedCall[]): CallMock[] =>
  calls.flatMap(({ method, url, status, responseType, responseBody, responseBytes, truncated, digest }) => {
    if (status === undefined || truncated || (responseBytes && responseBody === undefined)) return [];
    return [
      {
        method,
        // The record has no query, so any one matches; the digest tells those of the same path apart.
        url: `${url}*`,
        ...(digest !== undefined && { digest }),
        response: {
          status,
          ...(responseType !== undefined && { headers: { 'content-type': responseType } }),
          body: responseBody ?? '',
        },
      },
    ];
  });
