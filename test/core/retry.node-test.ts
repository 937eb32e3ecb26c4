import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { parseRetryAfter, retryDelay } from '../../src/core/retry.ts';

const middle = 0.5;

describe('retryDelay', () => {
  for (const status of [undefined, 408, 429, 500, 502, 503, 504]) {
    it(`retries after ${status ?? 'a lost connection'}`, () => {
      expect(retryDelay({ attempt: 1, tries: 3, status }, middle)).to.be.a('number');
    });
  }

  const final = [0, 200, 204, 301, 302, 304, 400, 401, 403, 404, 405, 409, 410, 413, 422, 425, 501, 505, 507];
  for (const status of final) {
    it(`does not retry after ${status}, even with Retry-After`, () => {
      expect(retryDelay({ attempt: 1, tries: 3, status }, middle)).to.equal(undefined);
      expect(retryDelay({ attempt: 1, tries: 3, status, retryAfter: 1 }, middle)).to.equal(undefined);
    });
  }

  const counts: [attempt: number, tries: number, again: boolean][] = [
    [1, 3, true],
    [2, 3, true],
    [3, 3, false],
    [4, 3, false],
    [1, 1, false],
    [1, 0, false],
    [1, NaN, false],
    [1000, Infinity, true],
  ];
  for (const [attempt, tries, again] of counts) {
    it(`${again ? 'retries' : 'does not retry'} after attempt ${attempt} of ${tries}`, () => {
      expect(retryDelay({ attempt, tries, status: 503 }, middle) !== undefined).to.equal(again);
      expect(retryDelay({ attempt, tries, status: 503, retryAfter: 5 }, middle) !== undefined).to.equal(
        again,
      );
    });
  }

  const waits: [attempt: number, random: number, ms: number][] = [
    [1, 0, 150],
    [1, 1, 300],
    [2, 0, 300],
    [2, 1, 600],
    [3, 0, 600],
    [3, 1, 1200],
    [50, 0, 15_000],
    [50, 1, 30_000],
  ];
  for (const [attempt, random, ms] of waits) {
    it(`waits ${ms} ms after attempt ${attempt} with the random number ${random}`, () => {
      expect(retryDelay({ attempt, tries: 99 }, random)).to.equal(ms);
    });
  }

  const retryAfterCases: [retryAfter: number, wait: number | undefined][] = [
    [0, 0],
    [1, 1],
    [29_999, 29_999],
    [30_000, 30_000],
    [30_001, undefined],
    [Infinity, undefined],
  ];
  for (const [retryAfter, wait] of retryAfterCases) {
    it(`${wait === undefined ? 'does not retry' : 'waits as asked'} when Retry-After is ${retryAfter} ms`, () => {
      expect(retryDelay({ attempt: 1, tries: 3, status: 429, retryAfter }, middle)).to.equal(wait);
    });
  }
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2030-01-01T12:00:00Z');
  const noon = 'Tue, 01 Jan 2030 12:00:00 GMT';
  const tenSecondsLater = 'Tue, 01 Jan 2030 12:00:10 GMT';
  const hour = 3_600_000;

  const table: [
    name: string,
    header: string | null,
    date: string | null,
    clock: number,
    ms: number | undefined,
  ][] = [
    ['no header', null, noon, now, undefined],
    ['an empty header', '', noon, now, undefined],
    ['seconds', '7', null, now, 7000],
    ['0 seconds', '0', null, now, 0],
    ['many seconds', '86400', null, now, 86_400_000],
    ['a date by the local clock', tenSecondsLater, null, now, 10_000],
    ["a date by the answer's clock", tenSecondsLater, noon, now, 10_000],
    ['a date, local clock 5 hours slow', tenSecondsLater, noon, now - 5 * hour, 10_000],
    ['a date, local clock 5 hours fast', tenSecondsLater, noon, now + 5 * hour, 10_000],
    ['a date beside an invalid Date', tenSecondsLater, 'yesterday', now, 10_000],
    ['a date in the older form', 'Tuesday, 01-Jan-30 12:00:10 GMT', noon, now, 10_000],
    ['a date that is past', noon, tenSecondsLater, now, 0],
    ['a fraction', '1.5', null, now, undefined],
    ['a negative number', '-1', null, now, undefined],
    ['words', 'in 5 minutes', null, now, undefined],
    ['a word before GMT', 'soon GMT', null, now, undefined],
    ['a hexadecimal number', '0x10', null, now, undefined],
  ];
  for (const [name, header, date, clock, ms] of table) {
    it(`parses ${name} as ${ms} ms`, () => {
      expect(parseRetryAfter(header, date, clock)).to.equal(ms);
    });
  }
});
