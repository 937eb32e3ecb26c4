import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { withTimeLimit } from '../../src/core/time-limit.ts';
import { rejection } from '../support/rejection.ts';
import { type Timers, watchTimers } from './timers.ts';

const forever = () => new Promise<never>(() => undefined);
const label = 'GET /x';

describe('withTimeLimit', () => {
  const limit = 54_321;
  let timers: Timers;
  beforeEach(() => {
    timers = watchTimers({ limit });
  });
  afterEach(() => timers.restore());

  it('resolves with the result of the work, and leaves no timer', async () => {
    expect(await withTimeLimit(() => Promise.resolve('done'), limit, label)).to.equal('done');
    expect(timers.pending).to.equal(0);
  });

  it('rejects with the error of the work, and leaves no timer', async () => {
    const mine = new Error('mine');
    expect(await rejection(withTimeLimit(() => Promise.reject(mine), limit, label))).to.equal(mine);
    expect(timers.pending).to.equal(0);
  });

  it('rejects even when the work ignores its signal', async () => {
    expect(await rejection(withTimeLimit(forever, 1, label))).to.have.property(
      'message',
      'GET /x did not answer within 1 ms',
    );
    expect(timers.pending).to.equal(0);
  });

  it('reports a timeout even when the work rejects because of it', async () => {
    const work = (signal: AbortSignal) =>
      new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
    expect(await rejection(withTimeLimit(work, 1, label))).to.have.property(
      'message',
      'GET /x did not answer within 1 ms',
    );
  });

  it('does not abort the signal of the work once that has ended', async () => {
    let receivedSignal: AbortSignal | undefined;
    const work = async (signal: AbortSignal) => {
      receivedSignal = signal;
      return 'done';
    };
    expect(await withTimeLimit(work, limit, label)).to.equal('done');
    expect(receivedSignal?.aborted).to.equal(false);
  });

  it('does not start the work when the signal is already aborted', async () => {
    let started = false;
    const work = async () => {
      started = true;
    };
    const reason = new Error('reason');
    expect(await rejection(withTimeLimit(work, limit, label, AbortSignal.abort(reason)))).to.equal(reason);
    expect(started).to.equal(false);
    expect(timers.pending).to.equal(0);
  });

  it('rejects with the reason of the signal, and aborts the work', async () => {
    const abort = new AbortController();
    let receivedSignal: AbortSignal | undefined;
    const work = (signal: AbortSignal) => {
      receivedSignal = signal;
      return forever();
    };
    const end = rejection(withTimeLimit(work, limit, label, abort.signal));
    abort.abort('a reason that is no error');
    expect(await end).to.equal('a reason that is no error');
    expect(receivedSignal?.aborted).to.equal(true);
    expect(timers.pending).to.equal(0);
  });

  it('rejects even when the work aborts the signal before it returns', async () => {
    const abort = new AbortController();
    const reason = new Error('reason');
    const work = () => {
      abort.abort(reason);
      return forever();
    };
    expect(await rejection(withTimeLimit(work, limit, label, abort.signal))).to.equal(reason);
  });

  it('leaves no listener at the signal of the caller', async () => {
    const { signal } = new AbortController();
    let limited: AbortSignal | undefined;
    await withTimeLimit(async (given) => void (limited = given), limit, label, signal);
    expect(getEventListeners(limited as AbortSignal, 'abort')).to.deep.equal([]);
  });

  it('accepts a limit that is longer than any timer', async () => {
    let finish = (_value: string): void => undefined;
    const work = () => new Promise<string>((resolve) => (finish = resolve));
    const end = withTimeLimit(work, Infinity, label);
    expect(timers.waits).to.deep.equal([2 ** 31 - 1]);
    finish('done');
    expect(await end).to.equal('done');
  });
});
