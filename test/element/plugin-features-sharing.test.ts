import { aTimeout, expect, fixture, html, oneEvent } from '@open-wc/testing';

import { PluginEditorError } from '../../src/core/errors.ts';
import '../../src/plugin-features.ts';
import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import {
  FEATURES,
  builder,
  builderThat,
  loaded,
  record,
  rejection,
  retryButton,
  text,
  texts,
} from './plugin-features-helpers.ts';
import { scriptedServer } from '../support/scripted-server.ts';

const create = (address: string): Promise<PluginFeaturesElement> =>
  fixture<PluginFeaturesElement>(html`<plugin-features builder=${address}></plugin-features>`);

const other = { features: [], languages: [{ identifier: 'go', pretty: 'Go', short: 'GO' }] };

describe('the request of <plugin-features>', () => {
  describe('shared by several', () => {
    it('is made once for all elements with the same builder, even later ones', async () => {
      const server = await builderThat({ json: record, delay: 'hang' });
      const first = await create(server.url());
      const second = await create(`${server.url()}/`);
      await server.requests(1);
      const both = Promise.all([loaded(first), loaded(second)]);
      await server.release();
      await both;
      const third = await create(server.url());
      expect(third.state).to.equal('ready');
      expect(third.record).to.equal(first.record);
      expect(second.record).to.equal(first.record);
      expect(await server.requests()).to.have.length(1);
    });

    it('is made once for several calls of refresh(), which update all elements', async () => {
      const server = await builderThat({ json: record, times: 1 }, { json: other });
      const [first, second] = [await create(server.url()), await create(server.url())];
      await Promise.all([loaded(first), loaded(second)]);
      const loadEvent = oneEvent(second, 'plugin-features-load');
      await Promise.all([first.refresh(), second.refresh()]);
      await loadEvent;
      await second.updateComplete;
      for (const element of [first, second]) expect(texts(element, 'name')).to.deep.equal(['Go']);
      expect(await server.requests()).to.have.length(2);
    });

    it('continues when one of them is removed', async () => {
      const server = await builderThat({ json: record, delay: 'hang' });
      const [first, second] = [await create(server.url()), await create(server.url())];
      await server.requests(1);
      first.remove();
      await first.updateComplete;
      const done = loaded(second);
      await server.release();
      await done;
      expect(first.state).to.equal('idle');
      const [request] = await server.requests();
      expect(request?.aborted).to.equal(false);
    });

    it('is aborted when the last one is removed', async () => {
      const server = await builderThat({ delay: 'hang' });
      const [first, second] = [await create(server.url()), await create(server.url())];
      await server.requests(1);
      first.remove();
      second.remove();
      await server.aborted({ path: FEATURES });
      expect(second.state).to.equal('idle');
    });

    it('is made again when no element is left that kept the record', async () => {
      const server = await builderThat({ json: record, times: 1 }, { json: other });
      const first = await loaded(await create(server.url()));
      first.remove();
      await first.updateComplete;
      expect(first.record).to.equal(undefined);
      const second = await loaded(await create(server.url()));
      expect(texts(second, 'name')).to.deep.equal(['Go']);
    });

    it('is made again by the next element when it failed', async () => {
      const server = await builderThat({ status: 404, times: 1 }, { json: record });
      const first = await create(server.url());
      await oneEvent(first, 'plugin-features-error');
      const second = await create(server.url());
      await Promise.all([loaded(first), loaded(second)]);
      expect(await server.requests()).to.have.length(2);
    });
  });

  describe('of one element', () => {
    it('is made once for several attributes set at once', async () => {
      const [one, two] = [await builder(), await builderThat({ json: other })];
      const element = document.createElement('plugin-features');
      element.setAttribute('builder', one.url());
      document.body.append(element);
      element.setAttribute('label', 'x');
      element.toggleAttribute('selectable');
      element.setAttribute('builder', two.url());
      await loaded(element);
      expect(texts(element, 'name')).to.deep.equal(['Go']);
      expect(await two.requests()).to.have.length(1);
      expect(await one.requests()).to.have.length(0);
      element.remove();
    });

    it('is aborted when the builder changes', async () => {
      const slow = await builderThat({ delay: 'hang' });
      const quick = await builderThat({ json: other });
      const element = await create(slow.url());
      await slow.requests(1);
      element.builder = quick.url();
      await loaded(element);
      await slow.aborted({ path: FEATURES });
      expect(texts(element, 'name')).to.deep.equal(['Go']);
    });

    it('removes the list of the previous builder at once', async () => {
      const [one, two] = [await builder(), await builderThat({ json: other, delay: 'hang' })];
      const element = await loaded(await create(one.url()));
      element.builder = two.url();
      await element.updateComplete;
      expect(element.record).to.equal(undefined);
      expect(texts(element, 'name')).to.deep.equal([]);
      await two.requests(1);
      element.builder = null;
      await element.updateComplete;
      expect(element.state).to.equal('idle');
      await two.aborted({ path: FEATURES });
    });

    it('is not made for an element that is removed at once', async () => {
      const server = await builder();
      const element = document.createElement('plugin-features');
      element.builder = server.url();
      document.body.append(element);
      element.remove();
      await element.updateComplete;
      await loaded(await create(server.url()));
      expect(await server.requests()).to.have.length(1);
    });

    it('survives a move of the element', async () => {
      const server = await builderThat({ json: record, delay: 'hang' });
      const element = await create(server.url());
      await server.requests(1);
      const box = document.createElement('div');
      element.parentElement?.append(box);
      box.append(element);
      const done = loaded(element);
      await server.release();
      await done;
      const [request] = await server.requests();
      expect(request?.aborted).to.equal(false);
      expect(await server.requests()).to.have.length(1);
    });

    it('is made again when the element is inserted again', async () => {
      const server = await builderThat({ delay: 'hang', times: 1 }, { json: record });
      const element = await create(server.url());
      await server.requests(1);
      const { parentElement } = element;
      element.remove();
      await server.aborted({ path: FEATURES });
      parentElement?.append(element);
      await loaded(element);
      expect(texts(element, 'name')).to.have.length(3);
    });

    it('is not made by refresh() of an element that was removed, which resolves', async () => {
      const server = await builder();
      const element = await loaded(await create(server.url()));
      element.remove();
      await element.refresh();
      expect(element.state).to.equal('idle');
      await loaded(await create(server.url()));
      expect(await server.requests()).to.have.length(2);
    });

    it('has refresh() reject when the element is removed', async () => {
      const server = await builderThat({ json: record, times: 1 }, { delay: 'hang' });
      const element = await loaded(await create(server.url()));
      const refused = rejection(element.refresh());
      await server.requests(2);
      element.remove();
      expect((await refused).name).to.equal('AbortError');
    });
  });

  describe('with fetchToken', () => {
    const withToken = (address: string, fetchToken: PluginFeaturesElement['fetchToken']) =>
      fixture<PluginFeaturesElement>(
        html`<plugin-features builder=${address} .fetchToken=${fetchToken}></plugin-features>`,
      );

    it('sends its token, and is not shared', async () => {
      const server = await builder();
      let signal: AbortSignal | undefined;
      const element = await withToken(server.url(), async (request) => {
        ({ signal } = request);
        return 'secret-1';
      });
      await loaded(element);
      await loaded(await create(server.url()));
      await loaded(await withToken(server.url(), async () => ({ token: 'secret-2' })));
      expect((await server.requests()).map(({ headers }) => headers['authorization'])).to.deep.equal([
        'Bearer secret-1',
        undefined,
        'Bearer secret-2',
      ]);
      expect(signal).to.be.instanceOf(AbortSignal);
    });

    it('uses a new function from the next request on, without a restart', async () => {
      const server = await builder();
      const element = await withToken(server.url(), async () => 'one');
      await loaded(element);
      element.fetchToken = async () => 'two';
      await element.updateComplete;
      expect(element.state).to.equal('ready');
      await element.refresh();
      const sent = (await server.requests()).map(({ headers }) => headers['authorization']);
      expect(sent).to.deep.equal(['Bearer one', 'Bearer two']);
    });

    it('ends in an error with the cause when the function fails, before it is sent', async () => {
      const server = await builder();
      const cause = new Error('signed out');
      let fail = true;
      const element = await withToken(server.url(), async () => {
        if (fail) throw cause;
        return 't';
      });
      if (element.state !== 'error') await oneEvent(element, 'plugin-features-error');
      expect(element.error).to.be.instanceOf(PluginEditorError);
      expect(element.error).to.have.property('code', 'token-source');
      expect(element.error?.cause).to.equal(cause);
      expect(await server.requests()).to.have.length(0);
      fail = false;
      await element.updateComplete;
      retryButton(element).click();
      await loaded(element);
    });

    it('keeps a token that cannot be sent out of the error', async () => {
      const server = await builder();
      const element = await withToken(server.url(), async () => 'sécret token');
      if (element.state !== 'error') await oneEvent(element, 'plugin-features-error');
      await element.updateComplete;
      expect(element.error).to.have.property('code', 'token-invalid');
      expect(text(element) + String(element.error?.stack)).not.to.include('sécret');
      expect(await server.requests()).to.have.length(0);
    });

    it('never uses a late token for an earlier builder', async () => {
      const [one, two] = [await builder(), await builderThat({ json: other })];
      let giveLate = (_token: string): void => {};
      const late = new Promise<string>((resolve) => (giveLate = resolve));
      const tokens = [late, Promise.resolve('t2'), Promise.resolve('t3')];
      const element = await withToken(one.url(), () => tokens.shift() as Promise<string>);
      element.builder = two.url();
      await loaded(element);
      giveLate('t1');
      await element.refresh();
      expect(await one.requests()).to.have.length(0);
      expect(texts(element, 'name')).to.deep.equal(['Go']);
    });

    it('aborts the function when the element is removed', async () => {
      const server = await scriptedServer();
      let signal: AbortSignal | undefined;
      const element = await withToken(server.url(), (request) => {
        ({ signal } = request);
        return new Promise(() => {});
      });
      expect(signal?.aborted).to.equal(false);
      element.remove();
      await element.updateComplete;
      await aTimeout(0);
      expect(signal?.aborted).to.equal(true);
    });
  });
});
