import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import { isHeaderName, isHeaderValue } from './headers.ts';
import type { CallResult, GuestRequest } from '../sandbox/run-calls.ts';

/** How many mocks a test may have. */
const maxMocks = 100;

const mockSchema = z.object({
  method: z.string().min(1).max(100).optional().meta({ description: 'Any method by default.' }),
  url: z
    .string()
    .min(1)
    .max(8192)
    .meta({ description: 'The address of the call; with `*` at its end the beginning of it.' }),
  response: z.object({
    status: z.int().min(200).max(599).optional().meta({ description: '200 by default.' }),
    headers: z
      .record(
        z.string().refine(isHeaderName, 'must be the name of a header'),
        z.string().refine(isHeaderValue, 'must be what a header may hold'),
      )
      .optional(),
    body: z.unknown().optional().meta({ description: 'Text, or any JSON.' }),
  }),
});

/** The responses to the calls of a test. */
export const mocksSchema = z.array(mockSchema).max(maxMocks);

export type Mock = z.output<typeof mockSchema>;

const encoder = new TextEncoder();

/** Answers the calls of a test without any request: each mock once, in their order. */
export class MockedCalls {
  readonly #mocks: Mock[];

  constructor(mocks: readonly Mock[]) {
    this.#mocks = [...mocks];
  }

  async call({ method, url }: GuestRequest): Promise<CallResult> {
    const address = URL.canParse(url) ? new URL(url).href : url;
    const index = this.#mocks.findIndex((mock) => matches(mock, method, address));
    const [mock] = index < 0 ? [] : this.#mocks.splice(index, 1);
    if (!mock) {
      const message = `${method} ${address.slice(0, 1000)} has no mock in this test.`;
      return { error: { code: 'call-not-mocked', message } };
    }
    const { status = 200, headers = {}, body } = mock.response;
    const isText = typeof body === 'string' || body === undefined;
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    return {
      response: {
        status,
        statusText: STATUS_CODES[status] ?? '',
        url: address,
        headers: [
          ...(isText || names.includes('content-type')
            ? []
            : [['content-type', 'application/json'] as const]),
          ...Object.entries(headers),
        ],
        body: encoder.encode(isText ? body : JSON.stringify(body)),
      },
    };
  }
}

function matches(mock: Mock, method: string, address: string): boolean {
  if (mock.method !== undefined && mock.method.toUpperCase() !== method) return false;
  if (mock.url.endsWith('*')) return address.startsWith(mock.url.slice(0, -1));
  return mock.url === address || (URL.canParse(mock.url) && new URL(mock.url).href === address);
}
