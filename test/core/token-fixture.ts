import { afterEach, beforeEach } from 'node:test';

import type { PluginEditorError } from '../../src/core/errors.ts';
import { type HeldToken, type TokenRequest, type TokenSource, getToken } from '../../src/core/token.ts';
import { expect } from '../support/expect.ts';
import { rejection } from '../support/rejection.ts';
import { testServer } from './test-server.ts';
import { type Timers, watchTimers } from './timers.ts';

/** A value that no error may show. */
export const SECRET = 'tok-5ecret';

/** The plugin that tokens are requested for by default. */
export const target = { ident: 'com.acme.customer-7', namespace: 'default', fn: 'add-record' };

/** The time limit, which differs from every delay between two attempts. */
const timeout = 54_321;

/** A token endpoint at `/token` for each test of a suite, which must leave no timer. */
export function tokenFixture() {
  const fixture = Object.assign(testServer('/token'), {
    timers: undefined as unknown as Timers,

    get(source: Partial<TokenSource> = {}, request: Partial<TokenRequest> = {}): Promise<HeldToken> {
      return getToken(
        {
          tokenEndpoint: fixture.server.sameOrigin.url('/token'),
          base: fixture.server.origin,
          tokenMethod: 'post',
          credentials: 'same-origin',
          timeout,
          ...source,
        },
        { ...target, signal: new AbortController().signal, ...request },
      );
    },

    /** Resolves with the reason of the rejection of `get`. */
    fail(source?: Partial<TokenSource>, request?: Partial<TokenRequest>): Promise<PluginEditorError> {
      return rejection(fixture.get(source, request));
    },
  });

  beforeEach(async () => {
    fixture.timers = watchTimers({ limit: timeout });
    await fixture.start({ json: { token: 'from the endpoint' } });
  });
  afterEach(() => {
    fixture.timers.restore();
    expect(fixture.timers.pending, 'timers left').to.equal(0);
  });
  return fixture;
}
