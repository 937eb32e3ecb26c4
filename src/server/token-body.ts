import type { EditorTokenRecord } from './access-client.ts';

/** ISO 8601. `Date.parse` alone accepts nearly anything, such as text in brackets behind a date. */
const ISO_DATE = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/;

const isPositive = (value: unknown): value is number => Number.isFinite(value) && (value as number) > 0;

/** Takes the fields that a page gets out of a record: the token and when it ends. Others may not be meant for a browser. */
export function tokenBody({
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
