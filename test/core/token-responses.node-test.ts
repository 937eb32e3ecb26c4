import { describe, it } from 'node:test';

import {
  HttpError,
  NetworkError,
  PluginEditorError,
  SchemaError,
  TimeoutError,
} from '../../src/core/errors.ts';
import { isLive } from '../../src/core/token.ts';
import type { Rule } from '../support/scripted-server-rules.ts';
import { expect } from '../support/expect.ts';
import { textOf } from '../support/rejection.ts';
import { holdTimer } from './timers.ts';
import { SECRET, tokenFixture } from './token-fixture.ts';

const noon = 1_893_499_200;
const date = 'Tue, 01 Jan 2030 12:00:00 GMT';

describe('getToken: responses', () => {
  const fixture = tokenFixture();

  describe('the response of the endpoint', () => {
    type Row = [
      name: string,
      rule: Omit<Rule, 'path'>,
      code: string,
      attempts: number,
      status: number | undefined,
      message: string,
      cause: new (...args: never[]) => Error,
    ];
    const again = { headers: { 'retry-after': '0' }, body: SECRET };
    const rows: Row[] = [
      [
        'a lost connection',
        { drop: 'start' },
        'token-network',
        3,
        undefined,
        'could not be reached',
        NetworkError,
      ],
      [
        'half an answer',
        { json: { token: SECRET }, drop: 'midway' },
        'token-network',
        3,
        undefined,
        'could not be reached',
        NetworkError,
      ],
      ['300', { status: 300, body: SECRET }, 'token-http', 1, 300, 'answered 300', HttpError],
      ['401', { status: 401, body: SECRET }, 'token-unauthorized', 1, 401, 'answered 401', HttpError],
      ['403', { status: 403, body: SECRET }, 'token-unauthorized', 1, 403, 'answered 403', HttpError],
      ['400', { status: 400, body: SECRET }, 'token-http', 1, 400, 'answered 400', HttpError],
      ['404', { status: 404, body: SECRET }, 'token-http', 1, 404, 'answered 404', HttpError],
      ['501', { status: 501, body: SECRET }, 'token-http', 1, 501, 'answered 501', HttpError],
      ...[408, 429, 500, 502, 503, 504].map((status): Row => [
        String(status),
        { status, ...again },
        'token-http',
        3,
        status,
        `answered ${status}`,
        HttpError,
      ]),
      ['HTML', { html: `<title>${SECRET}</title>` }, 'token-invalid', 1, undefined, 'not JSON', SchemaError],
      ['nothing', { status: 204 }, 'token-invalid', 1, undefined, 'not JSON', SchemaError],
      [
        'no token',
        { json: { tokens: SECRET } },
        'token-invalid',
        1,
        undefined,
        'token: expected non-empty string',
        SchemaError,
      ],
      [
        'an empty token',
        { json: { token: '' } },
        'token-invalid',
        1,
        undefined,
        'token: expected non-empty string',
        SchemaError,
      ],
      [
        'a number',
        { json: { token: 5_323_223 } },
        'token-invalid',
        1,
        undefined,
        'token: expected non-empty string',
        SchemaError,
      ],
      ['null', { json: null }, 'token-invalid', 1, undefined, 'expected object', SchemaError],
      ['text', { json: SECRET }, 'token-invalid', 1, undefined, 'expected object', SchemaError],
      [
        '70 KB',
        { json: { token: SECRET.repeat(7000) } },
        'token-invalid',
        1,
        undefined,
        'larger than 65536 bytes',
        SchemaError,
      ],
    ];
    for (const [name, rule, code, attempts, status, message, cause] of rows) {
      it(`ends in ${code} after ${attempts} attempts when it is ${name}`, async () => {
        await fixture.start(rule);
        const error = await fixture.fail({
          tokenEndpoint: fixture.server.sameOrigin.url(`/token?key=${SECRET}`),
        });
        expect(error).to.be.instanceOf(PluginEditorError);
        expect(error).to.include({ name: 'PluginEditorError', code, attempts });
        expect(error.status).to.equal(status);
        expect(error.message).to.contain(`No editor token: POST ${fixture.server.sameOrigin.url('/token')}`);
        expect(error.message).to.contain(message).and.contain(`attempts: ${attempts}`);
        expect(error.cause).to.be.instanceOf(cause);
        expect(textOf(error)).not.to.contain(SECRET).and.not.to.contain('5323223');
        expect((await fixture.server.requests()).map(({ path }) => path)).to.deep.equal(
          Array(attempts).fill('/token'),
        );
      });
    }

    it('ends in token-timeout without a retry when it never comes', async () => {
      fixture.timers.restore();
      await fixture.start({ delay: 'hang' });
      const fire = holdTimer(2000);
      const end = fixture.fail({ timeout: 2000 });
      await fixture.server.requests(1);
      fire();
      const error = await end;
      expect(error).to.include({ code: 'token-timeout', attempts: 1 });
      expect(error.message).to.contain('did not answer within 2000 ms');
      expect(error.cause).to.be.instanceOf(TimeoutError);
      expect(await fixture.server.aborted({ path: '/token' })).to.have.length(1);
      expect(await fixture.server.requests()).to.have.length(1);
    });

    it('is counted with the attempts before it when it is wrong', async () => {
      await fixture.start({ status: 503, times: 1, ...again }, { json: {} });
      expect(await fixture.fail()).to.include({ code: 'token-invalid', attempts: 2 });
    });

    it('may have 64 KiB and no byte more', async () => {
      const room = 65_536 - '{"token":""}'.length;
      await fixture.start(
        { times: 1, json: { token: 'x'.repeat(room) } },
        { json: { token: 'x'.repeat(room + 1) } },
      );
      expect((await fixture.get()).token).to.have.length(room);
      expect(await fixture.fail()).to.include({ code: 'token-invalid' });
    });

    it('is accepted after failures that passed', async () => {
      await fixture.start(
        { status: 503, times: 1, ...again },
        { drop: 'start', times: 1 },
        { json: { token: 't3' } },
      );
      expect(await fixture.get()).to.have.property('token', 't3');
    });

    it('is accepted with additional fields, whatever its media type', async () => {
      await fixture.start({ body: '{"token":"t","user":{"name":"x"},"expires_in":null}', status: 201 });
      expect(await fixture.get()).to.include({ token: 't', life: undefined });
    });
  });

  describe('the life of a token', () => {
    const lives: [name: string, json: object, ms: number | undefined][] = [
      ['expires_in', { expires_in: 900, expires_at: 1 }, 900_000],
      ['expires_at as a number, by the Date of the answer', { expires_at: noon + 300 }, 300_000],
      ['expires_at as text, by the Date of the answer', { expires_at: '2030-01-01T12:05:00Z' }, 300_000],
      ['neither', {}, undefined],
    ];
    for (const [name, json, ms] of lives) {
      it(`is known from ${name}`, async () => {
        await fixture.start({ json: { token: 't', ...json }, headers: { date } });
        expect(await fixture.get()).to.have.property('life', ms);
      });
    }

    it('is known for fetchToken, too', async () => {
      const fetchToken = async () => ({ token: 't', expires_in: 60 });
      expect(await fixture.get({ fetchToken })).to.have.property('life', 60_000);
    });

    it('begins with the response', async () => {
      const before = { wall: Date.now(), mono: performance.now() };
      const { since } = await fixture.get();
      expect(since.wall).to.be.within(before.wall, Date.now());
      expect(since.mono).to.be.within(before.mono, performance.now());
    });

    const now = () => ({ wall: Date.now(), mono: performance.now() });
    const ages: [name: string, life: number | undefined, wall: number, mono: number, live: boolean][] = [
      ['no known life', undefined, -1e12, -1e12, true],
      ['a young token', 60_000, -30_000, -30_000, true],
      ['an old token', 60_000, -60_000, -60_000, false],
      ['a token whose computer slept', 60_000, -61_000, -100, false],
      ['a token whose wall clock was set back', 60_000, 3_600_000, -61_000, false],
      ['a token that had ended when it came', -1, 0, 0, false],
    ];
    for (const [name, life, wall, mono, live] of ages) {
      it(`${live ? 'has not ended' : 'has ended'} for ${name}`, () => {
        const at = now();
        const since = { wall: at.wall + wall, mono: at.mono + mono };
        expect(isLive({ token: 't', life, since })).to.equal(live);
      });
    }
  });
});
