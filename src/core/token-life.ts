/** An editor token as a token endpoint or `fetchToken` gives it; other fields are ignored. */
export interface EditorToken {
  token: string;
  /** How long it lives from now, in seconds. */
  expires_in?: number | undefined;
  /** When it ends: ISO 8601, or seconds since the epoch. */
  expires_at?: string | number | undefined;
}

/** Both clocks, in ms: the wall clock may be set anew, and the monotonic one stops while most systems sleep. @internal */
export interface Instant {
  wall: number;
  mono: number;
}

/** @internal */
export const instant = (): Instant => ({ wall: Date.now(), mono: performance.now() });

/** How much time has passed, in ms, by the clock that shows more of it. @internal */
export const elapsed = (from: Instant, to: Instant): number =>
  Math.max(to.wall - from.wall, to.mono - from.mono);

/**
 * How long a token lives from its arrival on, in ms; `undefined` where it is unknown. Values that do not depend on the local
 * clock take precedence, because that may be hours off: `expires_in`; `expires_at` against the `Date` of the response; a
 * JWT's `exp` against its `iat`; and only then `expires_at` against the local clock.
 * @param date the `Date` header of the response, where it can be read
 * @param now the local wall clock, in ms
 * @internal
 */
export function tokenLife(record: EditorToken, date: string | null, now: number): number | undefined {
  const { token, expires_in, expires_at } = record as Partial<Record<keyof EditorToken, unknown>>;
  const end = typeof expires_at === 'number' ? expires_at * 1000 : Date.parse(expires_at as string);
  return [
    Number.isFinite(expires_in) ? (expires_in as number) * 1000 : NaN,
    end - Date.parse(date ?? ''),
    jwtLife(token as string),
    end - now,
  ].find((life) => !Number.isNaN(life));
}

/** The life that a JWT states, in ms; `NaN` for any other token. */
function jwtLife(token: string): number {
  try {
    const [, payload] = token.split('.') as [string, string];
    const { exp, iat } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as Record<
      string,
      number
    >;
    return ((exp as number) - (iat as number)) * 1000;
  } catch {
    return NaN;
  }
}

/**
 * When to renew a token, in ms from its arrival: at 80 % of its life, and not earlier than 5 minutes before its end.
 * @param life how long the token lives, in ms
 * @internal
 */
export const renewalTime = (life: number): number => Math.max(life * 0.8, life - 300_000);
