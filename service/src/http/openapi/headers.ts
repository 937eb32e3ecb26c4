import type { ZodOpenApiHeaderObject } from 'zod-openapi';
import { responseHeaders } from '../operations/responses.ts';

const text = { type: 'string' } as const;

/** The headers of responses, with their descriptions. */
const documented = {
  'x-request-id': {
    description: 'The id of the request, made by the service.',
    required: true,
    schema: text,
  },
  'retry-after': {
    description: 'After how many seconds to try again.',
    schema: { type: 'integer', minimum: 0 },
  },
  ratelimit: {
    description: 'What is left of the rate, `r`, and in how many seconds it begins anew, `t`.',
    schema: text,
  },
  'ratelimit-policy': {
    description: 'How many requests, `q`, the rate allows in so many seconds, `w`.',
    schema: text,
  },
  'www-authenticate': { description: '`Bearer`.', schema: text },
  ...(Object.fromEntries(
    Object.entries(responseHeaders).map(([name, description]) => [name, { description, schema: text }]),
  ) as Record<keyof typeof responseHeaders, { description: string; schema: typeof text }>),
} as const;

export type DocumentedHeader = keyof typeof documented;

export const headerComponents: Record<string, ZodOpenApiHeaderObject> = documented;

/** References to headers, for a response. */
export const headersOf = (...names: readonly DocumentedHeader[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
