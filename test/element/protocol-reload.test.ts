import { expect } from '@open-wc/testing';

import { frameOf, rejection } from './plugin-editor-setup.ts';
import { makeDirty, openEditor } from './protocol-opened.ts';
import { named, protocolPage } from './protocol-setup.ts';
import { openSavable, replyToSave, untilSaveRequest } from './protocol-savable.ts';

// The first token request in these tests was for the opening, the second one is for the reload.
describe('reload() of a running editor', () => {
  it('rejects, reports why and changes nothing when it gets no token', async () => {
    const all = await openSavable();
    const { element, server, seen } = all;
    const frame = frameOf(element);
    await server.reset(
      { path: '/token', times: 1, status: 403 },
      { path: '/token', json: { token: 'later' } },
      { path: '/ping' },
    );
    seen.length = 0;
    const lines: string[] = [];
    const { error: log } = console;
    console.error = (line: string) => lines.push(line);
    const error = await rejection(element.reload());
    console.error = log;
    expect(error).to.include({ code: 'token-unauthorized', status: 403 });
    expect(element.state).to.equal('ready');
    expect(element.error).to.equal(undefined);
    expect(frameOf(element)).to.equal(frame);
    expect(seen.map(({ type, error: reported }) => [type, reported])).to.deep.equal([
      ['plugin-editor-error', error],
    ]);
    expect(lines).to.deep.equal([`<plugin-editor> token-unauthorized: ${error.message}`]);
    // The editor continues, and its messages are accepted as before.
    await makeDirty(all);
    await makeDirty(all, false);
    expect(all.received.of('open')).to.have.length(1);
  });

  it('asks again about work that became dirty during the token request', async () => {
    const all = await openEditor();
    const { element, server, seen } = all;
    element.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    await server.reset(
      { path: '/token', times: 1, delay: 'hang', json: { token: 'late' } },
      { path: '/token', json: { token: 'next' } },
      { path: '/editor*', html: 'x' },
      { path: '/ping' },
    );
    const reloading = element.reload();
    await server.requests({ path: '/token', count: 2 });
    await makeDirty(all);
    await server.release('/token');
    await reloading;
    expect(named(seen, 'discard')).to.have.length(1);
    expect(element.state).to.equal('ready');
    expect(element.dirty).to.equal(true);
    expect(all.received.of('open')).to.have.length(1);
  });

  it('goes on while work becomes unsaved and is saved, by the editor or for the page', async () => {
    const all = await openSavable();
    const { element, server, received } = all;
    await server.reset(
      { path: '/token', times: 1, delay: 'hang', json: { token: 'late' } },
      { path: '/editor*', html: protocolPage() },
      { path: '/ping' },
    );
    await makeDirty(all);
    const reloading = element.reload();
    await replyToSave(all, await untilSaveRequest(all));
    await server.requests({ path: '/token', count: 2 });
    const saving = element.save();
    await replyToSave(all, await untilSaveRequest(all, 2));
    await saving;
    await makeDirty(all);
    await makeDirty(all, false);
    await server.release('/token');
    await reloading;
    expect(await received.until('open', 2)).to.include({ token: 'late' });
    expect(await server.requests({ path: '/token' })).to.have.length(2);
  });

  it('never uses a token for another plugin than is wanted after work was discarded', async () => {
    const all = await openEditor();
    const { element, server, seen, received } = all;
    const keep = (event: Event) => event.preventDefault();
    element.addEventListener('plugin-editor-discard', keep, { once: true });
    await server.reset(
      { path: '/token', times: 1, delay: 'hang', json: { token: 'for-add-record' } },
      { path: '/token', json: { token: 'for-g' } },
      { path: '/editor*', html: protocolPage() },
      { path: '/ping' },
    );
    const reloading = element.reload();
    await server.requests({ path: '/token', count: 2 });
    await makeDirty(all);
    // The user keeps the work, so that the change waits.
    element.fn = 'g';
    await element.updateComplete;
    expect(named(seen, 'discard')).to.have.length(1);
    // When the reload asks again, the user discards the work.
    await server.release('/token');
    await reloading;
    expect(named(seen, 'discard').length).to.be.greaterThan(1);
    const { fn, token } = await received.until('open', 2);
    expect({ fn, token }).to.deep.equal({ fn: 'g', token: 'for-g' });
  });

  it('is superseded by a change, which is made', async () => {
    const all = await openSavable();
    const { element, server, received } = all;
    await server.reset(
      { path: '/token', times: 1, delay: 'hang', json: { token: 'never' } },
      { path: '/token', json: { token: 'next' } },
      { path: '/ping' },
    );
    const reloading = element.reload();
    await server.requests({ path: '/token', count: 2 });
    element.fn = 'g';
    await reloading;
    await server.aborted({ path: '/token' });
    expect(await received.until('open', 2)).to.include({ fn: 'g', token: 'next' });
  });

  it('is superseded by close()', async () => {
    const all = await openSavable();
    await all.server.reset({ path: '/token', delay: 'hang', json: { token: 'never' } }, { path: '/ping' });
    const reloading = all.element.reload();
    await all.server.requests({ path: '/token', count: 2 });
    await all.element.close();
    await reloading;
    expect(all.element.state).to.equal('idle');
  });
});
