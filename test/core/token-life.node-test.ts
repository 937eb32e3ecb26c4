import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { type EditorToken, elapsed, instant, tokenLife } from '../../src/core/token.ts';

const noon = 1_893_499_200;
const date = 'Tue, 01 Jan 2030 12:00:00 GMT';
const hour = 3600;

const base64url = (value: unknown) => {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
};
const jwt = (claims: unknown) => `${base64url({ alg: 'none' })}.${base64url(claims)}.c2ln`;

describe('tokenLife', () => {
  const issued = { iat: noon - 5 * hour, exp: noon - 5 * hour + 600 };
  /** Seconds by which the local clock is off. */
  const clocks = [0, -9 * hour, 9 * hour];

  const table: [name: string, token: EditorToken, date: string | null, seconds: number | undefined][] = [
    ['nothing tells', { token: 't' }, date, undefined],
    ['expires_in', { token: 't', expires_in: 900 }, null, 900],
    ['expires_in as a fraction', { token: 't', expires_in: 0.5 }, null, 0.5],
    ['expires_in of nothing', { token: 't', expires_in: 0 }, null, 0],
    ['expires_in before expires_at', { token: 't', expires_in: 900, expires_at: noon + 60 }, date, 900],
    ['expires_in before a JWT', { token: jwt(issued), expires_in: 900 }, date, 900],
    ['expires_at in seconds against Date', { token: 't', expires_at: noon + 300 }, date, 300],
    ['expires_at as ISO 8601 against Date', { token: 't', expires_at: '2030-01-01T12:05:00Z' }, date, 300],
    ['expires_at with an offset', { token: 't', expires_at: '2030-01-01T14:05:00.500+02:00' }, date, 300.5],
    ['expires_at that is past', { token: 't', expires_at: noon - 10 }, date, -10],
    ['expires_at against Date before a JWT', { token: jwt(issued), expires_at: noon + 300 }, date, 300],
    ['a JWT', { token: jwt(issued) }, null, 600],
    ['a JWT before expires_at without Date', { token: jwt(issued), expires_at: noon + 300 }, null, 600],
    ['a JWT without iat', { token: jwt({ exp: noon + 600 }) }, null, undefined],
    ['a JWT without exp', { token: jwt({ iat: noon }) }, null, undefined],
    ['two parts that are no JWT', { token: 'abc.def' }, null, undefined],
    ['three parts that are no JWT', { token: 'abc.!!!.def' }, null, undefined],
    ['a JWT whose payload is null', { token: jwt(null) }, null, undefined],
  ];
  for (const [name, token, responseDate, seconds] of table) {
    for (const off of clocks) {
      it(`is known from ${name}, with a local clock that is ${off / hour} h off`, () => {
        const ms = seconds === undefined ? undefined : seconds * 1000;
        expect(tokenLife(token, responseDate, (noon + off) * 1000)).to.equal(ms);
      });
    }
  }

  it('uses the local clock when there is nothing else', () => {
    for (const off of clocks) {
      const token = { token: 't', expires_at: noon + off + 300 };
      expect(tokenLife(token, null, (noon + off) * 1000)).to.equal(300_000);
      expect(tokenLife(token, 'no date', (noon + off) * 1000)).to.equal(300_000);
    }
  });

  const unusable: [string, unknown][] = [
    ['expires_in as text', { token: 't', expires_in: '900' }],
    ['expires_in null', { token: 't', expires_in: null }],
    ['expires_in without end', { token: 't', expires_in: Infinity }],
    ['expires_at null', { token: 't', expires_at: null }],
    ['expires_at as words', { token: 't', expires_at: 'soon' }],
    ['expires_at true', { token: 't', expires_at: true }],
  ];
  for (const [name, token] of unusable) {
    it(`ignores ${name}, and uses the next source`, () => {
      expect(tokenLife(token as EditorToken, date, noon * 1000)).to.equal(undefined);
      const next = { ...(token as EditorToken), token: jwt(issued) };
      expect(tokenLife(next, date, noon * 1000)).to.equal(600_000);
    });
  }

  it('decodes a payload with every base64url character and every length of padding', () => {
    const lengths = new Set<number>();
    let characters = '';
    for (const name of ['', 'a', 'ab', 'abc', 'Zoë>>>???', 'ÿÿÿ~~~', '😀🦊', '🧑🏽‍🚀']) {
      const token = jwt({ ...issued, name });
      const payload = token.split('.')[1] as string;
      lengths.add(payload.length % 4);
      characters += payload;
      expect(tokenLife({ token }, null, 0), name).to.equal(600_000);
    }
    // Without these the table would prove nothing.
    expect(lengths).to.deep.equal(new Set([0, 2, 3]));
    expect(characters).to.match(/-/).and.to.match(/_/);
  });
});

describe('elapsed', () => {
  const from = { wall: 1_000_000, mono: 500 };
  const table: [name: string, to: { wall: number; mono: number }, ms: number][] = [
    ['both agree', { wall: 1_010_000, mono: 10_500 }, 10_000],
    ['the monotonic clock stopped in sleep', { wall: 1_010_000, mono: 600 }, 10_000],
    ['the wall clock was set back', { wall: 10, mono: 10_500 }, 10_000],
  ];
  for (const [name, to, ms] of table) {
    it(`takes the larger of both clocks: ${name}`, () => {
      expect(elapsed(from, to)).to.equal(ms);
    });
  }

  it('reads both clocks', () => {
    const before = { wall: Date.now(), mono: performance.now() };
    const { wall, mono } = instant();
    expect(wall).to.be.within(before.wall, Date.now());
    expect(mono).to.be.within(before.mono, performance.now());
  });
});
