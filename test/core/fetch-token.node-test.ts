import { describe, it } from 'node:test';

import { PluginEditorError } from '../../src/core/errors.ts';
import type { FetchToken } from '../../src/core/token.ts';
import { expect } from '../support/expect.ts';
import { textOf } from '../support/rejection.ts';
import { SECRET, target, tokenFixture } from './token-fixture.ts';

describe('getToken', () => {
  const fixture = tokenFixture();

  describe('fetchToken', () => {
    it('is called with the target instead of the endpoint', async () => {
      const seen: object[] = [];
      const fetchToken: FetchToken = async ({ signal, ...fields }) => {
        seen.push(fields, { aborted: signal.aborted });
        return 'mine';
      };
      expect(await fixture.get({ fetchToken })).to.include({ token: 'mine', life: undefined });
      expect(seen).to.deep.equal([target, { aborted: false }]);
      expect(await fixture.server.requests()).to.have.length(0);
    });

    const good: [name: string, fetchToken: FetchToken][] = [
      ['a string', async () => 't'],
      ['a record', async () => ({ token: 't' })],
      ['a record with more', async () => ({ token: 't', other: 1 })],
      ['a string without a promise', (() => 't') as unknown as FetchToken],
    ];
    for (const [name, fetchToken] of good) {
      it(`may return ${name}`, async () => {
        expect(await fixture.get({ fetchToken })).to.have.property('token', 't');
      });
    }

    const bad: [name: string, value: unknown, problem: string][] = [
      ['nothing', undefined, 'expected object'],
      ['null', null, 'expected object'],
      ['a number', 5_323_223, 'expected object'],
      ['an empty string', '', 'token: expected non-empty string'],
      ['an empty record', {}, 'token: expected non-empty string'],
      ['a record with an empty token', { token: '' }, 'token: expected non-empty string'],
      ['a record with a number', { token: 5_323_223 }, 'token: expected non-empty string'],
      ['a huge string', SECRET.repeat(7000), 'larger than 65536 bytes'],
      ['a huge record', { token: SECRET.repeat(7000) }, 'larger than 65536 bytes'],
    ];
    for (const [name, value, problem] of bad) {
      it(`ends in token-invalid when it returns ${name}`, async () => {
        const error = await fixture.fail({ fetchToken: (async () => value) as FetchToken });
        expect(error).to.be.instanceOf(PluginEditorError);
        expect(error).to.include({ code: 'token-invalid', attempts: 1, status: undefined });
        expect(error.message).to.contain(`fetchToken returned wrong data: ${problem}`);
        expect(textOf(error)).not.to.contain(SECRET).and.not.to.contain('5323223');
      });
    }

    const mine = new Error('signed out');
    const failing: [name: string, fetchToken: FetchToken][] = [
      ['rejects', () => Promise.reject(mine)],
      [
        'throws at once',
        () => {
          throw mine;
        },
      ],
    ];
    for (const [name, fetchToken] of failing) {
      it(`ends in token-source when it ${name}, and is not called again`, async () => {
        let calls = 0;
        const counted: FetchToken = (request) => {
          calls += 1;
          return fetchToken(request);
        };
        const error = await fixture.fail({ fetchToken: counted });
        expect(error).to.be.instanceOf(PluginEditorError);
        expect(error).to.include({ code: 'token-source', attempts: 1, cause: mine });
        expect(error.message).to.contain('fetchToken failed');
        expect(calls).to.equal(1);
      });
    }

    it('ends in token-source when it rejects with undefined', async () => {
      // oxlint-disable-next-line prefer-promise-reject-errors -- what a page may do
      expect(await fixture.fail({ fetchToken: () => Promise.reject() })).to.include({ code: 'token-source' });
    });

    it('passes on a PluginEditorError unchanged, even of another copy of the package', async () => {
      const own = new PluginEditorError('token-unauthorized', 'ask your administrator', { status: 403 });
      expect(await fixture.fail({ fetchToken: () => Promise.reject(own) })).to.equal(own);
      const other = Object.assign(new Error('of another copy'), { name: 'PluginEditorError' });
      expect(await fixture.fail({ fetchToken: () => Promise.reject(other) })).to.equal(other);
    });

    it('ends in token-timeout when it never settles, and its signal aborts', async () => {
      fixture.timers.restore();
      let receivedSignal: AbortSignal | undefined;
      const fetchToken: FetchToken = ({ signal }) => {
        receivedSignal = signal;
        return new Promise(() => undefined);
      };
      const error = await fixture.fail({ fetchToken, timeout: 10 });
      expect(error).to.include({ code: 'token-timeout', attempts: 1 });
      expect(error.message).to.contain('fetchToken did not answer within 10 ms');
      expect(receivedSignal?.aborted).to.equal(true);
    });
  });

  describe('aborting', () => {
    const reason = new Error('no longer wanted');

    it('cancels a pending request and rejects with the reason', async () => {
      await fixture.start({ delay: 'hang' });
      const abort = new AbortController();
      const end = fixture.fail({}, { signal: abort.signal });
      await fixture.server.requests(1);
      abort.abort(reason);
      expect(await end).to.equal(reason);
      expect(await fixture.server.aborted({ path: '/token' })).to.have.length(1);
    });

    it('prevents any request or call when it came before', async () => {
      const signal = AbortSignal.abort(reason);
      let isCalled = false;
      const fetchToken: FetchToken = async () => {
        isCalled = true;
        return 't';
      };
      expect(await fixture.fail({ fetchToken }, { signal })).to.equal(reason);
      expect(await fixture.fail({}, { signal })).to.equal(reason);
      expect(isCalled).to.equal(false);
      expect(await fixture.server.requests()).to.have.length(0);
    });

    it('reaches fetchToken, whose late token is ignored', async () => {
      const abort = new AbortController();
      let resolveToken = (_token: string): void => undefined;
      let receivedSignal: AbortSignal | undefined;
      const fetchToken: FetchToken = ({ signal }) => {
        receivedSignal = signal;
        return new Promise((resolve) => (resolveToken = resolve));
      };
      const end = fixture.fail({ fetchToken }, { signal: abort.signal });
      abort.abort(reason);
      expect(receivedSignal?.aborted).to.equal(true);
      expect(await end).to.equal(reason);
      resolveToken('too late');
      expect(fixture.timers.pending).to.equal(0);
    });

    it('rejects with the reason even when fetchToken rejects with another error', async () => {
      const abort = new AbortController();
      const fetchToken: FetchToken = ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('mine'))));
      const end = fixture.fail({ fetchToken }, { signal: abort.signal });
      abort.abort(reason);
      expect(await end).to.equal(reason);
    });
  });
});
