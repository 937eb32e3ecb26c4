import { describe, it } from 'node:test';

import { PluginEditorError } from '../../src/core/errors.ts';
import type { TokenSource } from '../../src/core/token.ts';
import { expect } from '../support/expect.ts';
import { textOf } from '../support/rejection.ts';
import { SECRET, tokenFixture } from './token-fixture.ts';

describe('getToken: requests', () => {
  const fixture = tokenFixture();

  describe('the token request', () => {
    it('is a POST with the three fields as JSON', async () => {
      expect(await fixture.get()).to.include({ token: 'from the endpoint', life: undefined });
      const [seen, ...more] = await fixture.server.requests();
      expect(more).to.have.length(0);
      expect(seen).to.include({
        method: 'POST',
        search: '',
        body: '{"ident":"com.acme.customer-7","namespace":"default","fn":"add-record"}',
      });
      expect(seen?.headers).to.include({ 'content-type': 'application/json' });
    });

    it('can carry every kind of text', async () => {
      const odd = { ident: 'com.acme.שלום', namespace: 'a/b &?#', fn: '😀"\\\0' };
      await fixture.get({}, odd);
      await fixture.get({ tokenMethod: 'get' }, odd);
      const [post, query] = await fixture.server.requests();
      expect(JSON.parse(post?.body ?? '')).to.deep.equal(odd);
      expect(query?.query).to.deep.equal(odd);
    });

    it('is a query without a body as GET, and keeps the parameters of the endpoint', async () => {
      await fixture.get({
        tokenMethod: 'get',
        tokenEndpoint: fixture.server.sameOrigin.url('/token?tenant=7&fn=old&flag=&tenant=8#frag'),
      });
      const [seen] = await fixture.server.requests();
      expect(seen).to.include({ method: 'GET', body: '' });
      expect([...new URLSearchParams(seen?.search)]).to.deep.equal([
        ['tenant', '7'],
        ['fn', 'add-record'],
        ['flag', ''],
        ['tenant', '8'],
        ['ident', 'com.acme.customer-7'],
        ['namespace', 'default'],
      ]);
      expect(seen?.headers).not.to.have.property('content-type');
    });

    it('keeps the query of the endpoint as POST', async () => {
      await fixture.get({ tokenEndpoint: fixture.server.sameOrigin.url('/token?tenant=7') });
      expect((await fixture.server.requests())[0]?.search).to.equal('?tenant=7');
    });

    it('resolves a relative endpoint against the page', async () => {
      const { pathname } = new URL(fixture.server.sameOrigin.url('/token'));
      await fixture.get({ tokenEndpoint: pathname });
      expect(await fixture.server.requests()).to.have.length(1);
    });
  });

  describe('tokenHeaders', () => {
    const headerSources: [name: string, headers: TokenSource['tokenHeaders']][] = [
      ['an object', { 'x-csrf': 'c1' }],
      ['pairs', [['x-csrf', 'c1']]],
      ['Headers', new Headers({ 'x-csrf': 'c1' })],
      ['a function', () => ({ 'x-csrf': 'c1' })],
      ['a function that gives Headers', () => new Headers({ 'x-csrf': 'c1' })],
      ['an async function', async () => ({ 'x-csrf': 'c1' })],
    ];
    it('are none when null, or given as null by a function', async () => {
      for (const tokenHeaders of [null, () => null]) await fixture.get({ tokenHeaders });
      expect(await fixture.server.requests()).to.have.length(2);
    });

    for (const [name, tokenHeaders] of headerSources) {
      it(`are sent when given as ${name}`, async () => {
        await fixture.get({ tokenHeaders });
        await fixture.get({ tokenHeaders, tokenMethod: 'get' });
        const sent = (await fixture.server.requests()).map(({ headers }) => headers['x-csrf']);
        expect(sent).to.deep.equal(['c1', 'c1']);
      });
    }

    it('cannot change the content type of the body', async () => {
      await fixture.get({ tokenHeaders: { 'Content-Type': 'text/plain' } });
      expect((await fixture.server.requests())[0]?.headers).to.include({
        'content-type': 'application/json',
      });
    });

    it('are not changed themselves', async () => {
      const tokenHeaders = new Headers({ 'x-csrf': 'c1' });
      await fixture.get({ tokenHeaders });
      expect([...tokenHeaders]).to.deep.equal([['x-csrf', 'c1']]);
    });

    it('are requested once for each token, however many attempts it takes', async () => {
      await fixture.start(
        { status: 503, times: 2, headers: { 'retry-after': '0' } },
        { json: { token: 't' } },
      );
      let calls = 0;
      await fixture.get({ tokenHeaders: () => ({ 'x-call': String((calls += 1)) }) });
      expect((await fixture.server.requests()).map(({ headers }) => headers['x-call'])).to.deep.equal([
        '1',
        '1',
        '1',
      ]);
    });

    const mine = new Error('no CSRF token in the page');
    const throwing: [name: string, tokenHeaders: TokenSource['tokenHeaders']][] = [
      [
        'throws',
        () => {
          throw mine;
        },
      ],
      ['rejects', () => Promise.reject(mine)],
    ];
    for (const [name, tokenHeaders] of throwing) {
      it(`end in token-source with its error as the cause when their function ${name}`, async () => {
        const error = await fixture.fail({ tokenHeaders });
        expect(error).to.be.instanceOf(PluginEditorError);
        expect(error).to.include({ code: 'token-source', attempts: 0, cause: mine });
        expect(error.message).to.contain('tokenHeaders failed');
        expect(await fixture.server.requests()).to.have.length(0);
      });
    }

    it('end in token-timeout when their function never settles', async () => {
      fixture.timers.restore();
      const error = await fixture.fail({ tokenHeaders: () => new Promise(() => undefined), timeout: 10 });
      expect(error).to.include({ code: 'token-timeout', attempts: 0 });
      expect(error.message).to.contain('tokenHeaders did not answer within 10 ms');
      expect(await fixture.server.requests()).to.have.length(0);
    });

    it('end with the reason of the signal when their function never settles', async () => {
      const abort = new AbortController();
      const end = fixture.fail(
        { tokenHeaders: () => new Promise(() => undefined) },
        { signal: abort.signal },
      );
      const reason = new Error('enough');
      abort.abort(reason);
      expect(await end).to.equal(reason);
    });

    for (const tokenHeaders of [
      { authorization: `${SECRET}\nx` },
      { 'x y': SECRET },
      { 'x-csrf': `${SECRET}😀` },
    ]) {
      it(`end in token-source without being repeated when no request can carry them: ${Object.keys(tokenHeaders).join()}`, async () => {
        for (const either of [tokenHeaders, () => tokenHeaders] as TokenSource['tokenHeaders'][]) {
          const error = await fixture.fail({ tokenHeaders: either });
          expect(error).to.be.instanceOf(PluginEditorError);
          expect(error).to.include({ code: 'token-source', attempts: 0 });
          expect(error.message).to.contain('tokenHeaders must be headers');
          expect(textOf(error)).not.to.contain(SECRET);
        }
        expect(await fixture.server.requests()).to.have.length(0);
      });
    }
  });
});
