import type { EditorTokenRecord } from './access-client.ts';

/** ISO 8601. `Date.parse` alone takes nearly anything, such as text in brackets behind a date. */
const ISO_DATE = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/;

const isPositive = (value: unknown): value is number => Number.isFinite(value) && (value as number) > 0;

/** What a page gets of an access answer: the token and when it ends. Other fields may not be for a browser. */
export function tokenAnswer({
  token,
  expires_in,
  expires_at,
}: EditorTokenRecord): Record<string, string | number> {
  return {
    token,
    ...(isPositive(expires_in) && { expires_in }),
    ...((isPositive(expires_at) ||
      (typeof expires_at === 'string' &&
        ISO_DATE.test(expires_at) &&
        !Number.isNaN(Date.parse(expires_at)))) && {
      expires_at,
    }),
  };
}
