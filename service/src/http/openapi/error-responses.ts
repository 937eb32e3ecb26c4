import * as z from 'zod';
import { errorCodes } from '../error-codes.ts';
import type { ErrorCode } from '../error-codes.ts';
import { runErrorCodes } from '../../sandbox/outcome.ts';
import { headersOf } from './headers.ts';
import type { DocumentedHeader } from './headers.ts';

/** The body of every error. That of a run that failed has its logs, too. */
export const errorBody = (codes: readonly ErrorCode[]) =>
  z.object({
    ...(codes.some((one) => ofRuns.has(one)) && {
      logs: z.array(z.string()).optional().meta({ description: 'What the run logged before it failed.' }),
    }),
    error: z.object({
      code: z.enum(codes).meta({ description: 'What is wrong, for programs.' }),
      message: z
        .string()
        .meta({ description: 'The same for people. It may change from release to release.' }),
      path: z.string().optional().meta({
        description: 'A JSON Pointer to what is wrong, in the body or among the parameters of the query.',
      }),
      ...(codes.includes('storage-full') && {
        details: z
          .object({ usedMb: z.number(), allowedMb: z.number() })
          .optional()
          .meta({ description: 'With `storage-full`: what the tenant stores and may store, in MiB.' }),
      }),
      requestId: z
        .string()
        .meta({ description: 'The id of the request, by which it can be found in the log.' }),
    }),
  });

/** Those whose responses have logs. 403 is not among them: its other causes have no logs. */
const ofRuns: ReadonlySet<ErrorCode> = new Set(runErrorCodes.filter((code) => !(403 in errorCodes[code])));

/** The headers of errors, by status code, besides the id of the request. */
const headersByStatus: Readonly<Record<number, readonly DocumentedHeader[]>> = {
  401: ['www-authenticate'],
  412: ['etag'],
  429: ['retry-after', 'ratelimit', 'ratelimit-policy'],
  503: ['retry-after'],
};

/** The error responses of a document. Operations with the same error codes for a status share one. */
export class ErrorResponses {
  readonly components: Record<string, { description: string }> = {};

  /** Adds the response of a status with these codes, unless it is there; returns the reference to it. */
  add(status: number, codes: readonly ErrorCode[]): { $ref: string } {
    const sorted = codes.toSorted();
    const name = [status, ...sorted].join('.');
    this.components[name] ??= response(status, sorted);
    return { $ref: `#/components/responses/${name}` };
  }
}

function response(status: number, codes: readonly ErrorCode[]) {
  const meanings = codes.map((code) => `- \`${code}\`: ${meaningOf(code, status)}`);
  return {
    description: meanings.join('\n'),
    headers: headersOf('x-request-id', ...(headersByStatus[status] ?? [])),
    content: { 'application/json': { schema: errorBody(codes) } },
  };
}

const meaningOf = (code: ErrorCode, status: number) =>
  (errorCodes[code] as Readonly<Record<number, string>>)[status] ?? '';
