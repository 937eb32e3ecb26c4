import type { Auth } from '../auth.ts';
import type { ErrorCode, ErrorList } from '../error-codes.ts';
import type { Operation } from './operation.ts';
import { namesIn, pathParameter } from './path-parameters.ts';

/** The errors of every operation but those for monitors. */
const always: ErrorList = {
  400: ['invalid-path'],
  421: ['misdirected'],
  429: ['too-many-requests'],
  503: ['busy', 'storage-unavailable'],
};

const withToken: ErrorList = {
  ...always,
  401: ['token-missing', 'token-invalid'],
  403: ['forbidden'],
};

const withEnvironmentToken: ErrorList = { ...withToken, 400: ['invalid-path', 'invalid-header'] };

const withEditorToken: ErrorList = { ...withToken, 403: ['forbidden', 'tenant-suspended'] };

const withEitherToken: ErrorList = { ...withEnvironmentToken, 403: ['forbidden', 'tenant-suspended'] };

const ofAuth: Readonly<Record<Auth, ErrorList>> = {
  none: always,
  monitor: {},
  editor: withEditorToken,
  environment: withEnvironmentToken,
  run: withEnvironmentToken,
  'editor-or-environment': withEitherToken,
  optional: withEitherToken,
};

/** All error codes that an operation can respond with, by their status codes, the lowest status code first. */
export function errorsOf(operation: Operation): Map<number, readonly ErrorCode[]> {
  const { method, path, auth, permission, scope, query, headers = [], body, errors } = operation;
  const isConditional =
    headers.includes('if-match') || (method !== 'GET' && headers.includes('if-none-match'));
  const lists: readonly (ErrorList | undefined)[] = [
    ofAuth[auth],
    // Every editor token may read.
    permission === undefined || permission === 'read' ? {} : { 403: ['not-permitted'] },
    scope === undefined || scope === 'any' ? {} : { 403: ['not-permitted'] },
    ...namesIn(path).map((name) => pathParameter(name).errors),
    query && { 400: ['invalid-query'] },
    query && 'after' in query.shape ? { 400: ['invalid-cursor'] } : {},
    isConditional ? { 412: ['precondition-failed'] } : {},
    body && { 400: ['invalid-text', 'incomplete-body'], 415: ['unsupported-media-type'] },
    body?.kind === 'json' ? { 400: ['invalid-json'], 413: ['too-large'], 422: ['too-deep', body.code] } : {},
    body?.kind === 'text' ? { 413: [body.tooLarge, ...(body.json ? (['too-large'] as const) : [])] } : {},
    errors,
    { 500: ['internal'] },
  ];
  const codes = new Map<number, Set<ErrorCode>>();
  for (const [status, list] of lists.flatMap((one) => Object.entries(one ?? {}))) {
    const known = codes.get(Number(status)) ?? new Set();
    for (const code of list as readonly ErrorCode[]) known.add(code);
    codes.set(Number(status), known);
  }
  return new Map([...codes].toSorted(([a], [b]) => a - b).map(([status, set]) => [status, [...set]]));
}
