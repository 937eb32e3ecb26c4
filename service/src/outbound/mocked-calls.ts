import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import type { RecordedCall } from '../storage/tables/runs.ts';
import { isHeaderName, isHeaderValue } from './headers.ts';
import { addressOf, recordAnswer } from './recorded-calls.ts';
import { digestedOf } from './run-caller.ts';
import type { Secrets } from './secrets.ts';
import { longestUrl } from '../sandbox/script/guest-calls.ts';
import type { CallResult, GuestRequest } from '../sandbox/run-calls.ts';

/** How many mocks a test may have. */
const maxMocks = 100;

const mockSchema = z.object({
  method: z.string().min(1).max(100).optional().meta({ description: 'By default any method.' }),
  url: z
    .string()
    .min(1)
    .max(longestUrl)
    .meta({ description: 'The address of the call; one that ends with `*` is the beginning of an address.' }),
  digest: z.string().max(100).optional().meta({
    description:
      'The `digest` of a recorded call: a call with the same address and body gets this response first.',
  }),
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

/** How many characters of an address are shown. */
const longestShown = 1000;

const encoder = new TextEncoder();

/** Answers the calls of a test without any request: each mock once, in their order, those with the digest of the call first. */
export class MockedCalls {
  readonly #mocks: Mock[];
  readonly #secrets: Pick<Secrets, 'digests'>;
  readonly #records: RecordedCall[] = [];

  constructor(mocks: readonly Mock[], secrets: Pick<Secrets, 'digests'>) {
    this.#mocks = [...mocks];
    this.#secrets = secrets;
  }

  /** The calls that were made, of which those without a mock have an error. */
  get records(): readonly RecordedCall[] {
    return this.#records;
  }

  async call(request: GuestRequest): Promise<CallResult> {
    const result = this.#answer(request);
    this.#records.push(recordAnswer(request, result));
    return result;
  }

  #answer(request: GuestRequest): CallResult {
    const { method } = request;
    const address = addressOf(request.url);
    const mock = this.#take(request, address);
    if (!mock) {
      const message = `${method} ${address.slice(0, longestShown)} was not made: no response is given for it.`;
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

  #take(request: GuestRequest, address: string): Mock | undefined {
    const matching = this.#mocks.filter((mock) => matches(mock, request.method, address));
    const hasDigests = matching.some(({ digest }) => digest !== undefined);
    const digests = hasDigests ? this.#secrets.digests(...digestedOf(request)) : [];
    const mock = matching.find(({ digest = '' }) => digests.includes(digest)) ?? matching[0];
    if (mock) this.#mocks.splice(this.#mocks.indexOf(mock), 1);
    return mock;
  }
}

function matches(mock: Mock, method: string, address: string): boolean {
  if (mock.method !== undefined && mock.method.toUpperCase() !== method) return false;
  if (mock.url.endsWith('*')) return address.startsWith(mock.url.slice(0, -1));
  return addressOf(mock.url) === address;
}
