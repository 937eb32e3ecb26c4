import { expect, fixture, html, oneEvent } from '@open-wc/testing';

import { PluginFeaturesErrorEvent, PluginFeaturesLoadEvent } from '../../src/element/features-events.ts';
import '../../src/plugin-features.ts';
import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import {
  FEATURES,
  builder,
  builderThat,
  loaded,
  parts,
  record,
  rejection,
  retryButton,
  settle,
  text,
  texts,
} from './plugin-features-helpers.ts';
import { until } from '../support/until.ts';

const create = (address?: string): Promise<PluginFeaturesElement> =>
  fixture<PluginFeaturesElement>(html`<plugin-features builder=${address ?? ''}></plugin-features>`);

const states = (element: Element): string[] =>
  ['idle', 'loading', 'ready', 'error', 'testing'].filter((name) => element.matches(`:state(${name})`));

describe('<plugin-features>', () => {
  describe('as a list', () => {
    it('shows each language by its name and short name, and each feature', async () => {
      const server = await builder();
      const element = await loaded(await create(server.url()));
      expect(texts(element, 'name')).to.deep.equal(['JavaScript', 'TypeScript', 'Rust']);
      expect(texts(element, 'short')).to.deep.equal(['JS', 'TS', 'RS']);
      expect(texts(element, 'feature')).to.deep.equal([
        'Try out before deploying',
        'Watch builds as they run',
        'time_travel',
      ]);
      expect(parts(element, 'language').every((language) => language.closest('ul > li'))).to.equal(true);
      expect(element.shadowRoot?.querySelector('input')).to.equal(null);
      const [list] = parts(element, 'list');
      expect(list?.localName).to.equal('ul');
      expect(list?.getAttribute('aria-label')).to.equal('Languages');
      const [request] = await server.requests();
      expect(request?.path).to.equal(FEATURES);
      expect(request?.headers).not.to.have.property('authorization');
    });

    it('shows names as text, never as HTML', async () => {
      const evil = '<img src=x onerror="document.title=`hacked`"><script>document.title=`hacked`</script>';
      const server = await builderThat({
        json: { features: [evil], languages: [{ identifier: evil, pretty: evil, short: evil }] },
      });
      const element = await loaded(await create(server.url()));
      for (const part of ['name', 'short', 'feature']) expect(texts(element, part)).to.deep.equal([evil]);
      expect(element.shadowRoot?.querySelector('img, script')).to.equal(null);
    });

    it('uses its strings, and label as its name', async () => {
      const server = await builder();
      const element = await loaded(await create(server.url()));
      element.strings = {
        languages: 'Sprachen',
        features: 'Funktionen',
        'feature-testing': 'Prüfungen',
        'feature-time_travel': 'Zeitreisen',
      };
      await element.updateComplete;
      expect(texts(element, 'feature')).to.deep.equal([
        'Prüfungen',
        'Watch builds as they run',
        'Zeitreisen',
      ]);
      const names = [...(element.shadowRoot?.querySelectorAll('ul') ?? [])].map((list) => list.ariaLabel);
      expect(names).to.deep.equal(['Sprachen', 'Funktionen']);
      element.label = 'Languages of this builder';
      await element.updateComplete;
      expect(parts(element, 'list')[0]?.ariaLabel).to.equal('Languages of this builder');
      expect(await server.requests()).to.have.length(1);
    });

    it('shows no feature for a name that every object has', async () => {
      const server = await builderThat({ json: { features: ['constructor', 'retry'], languages: [] } });
      const element = await loaded(await create(server.url()));
      expect(texts(element, 'feature')).to.deep.equal(['constructor', 'retry']);
    });

    it('has a text for no languages, which the page can replace', async () => {
      const server = await builderThat({ json: { features: [], languages: [] } });
      const element = await loaded(await create(server.url()));
      expect(text(element)).to.equal('No languages');
      const own = document.createElement('b');
      own.slot = 'empty';
      own.textContent = 'Nothing here';
      element.append(own);
      expect(own.assignedSlot?.name).to.equal('empty');
      await expect(element).to.be.accessible();
    });
  });

  describe('its state', () => {
    it('is idle without a builder, and shows nothing', async () => {
      const element = await create();
      expect(element.state).to.equal('idle');
      expect(states(element)).to.deep.equal(['idle']);
      expect(text(element)).to.equal('');
      expect(element.record).to.equal(undefined);
      await element.refresh();
      expect(element.state).to.equal('idle');
    });

    it('changes from loading to ready, in CSS and in events', async () => {
      const server = await builderThat({ json: record, delay: 'hang' });
      const element = await create(server.url());
      expect(element.state).to.equal('loading');
      expect(states(element)).to.deep.equal(['loading']);
      expect(text(element)).to.equal('Loading languages…');
      await expect(element).to.be.accessible();

      const load = oneEvent(document, 'plugin-features-load') as unknown as Promise<PluginFeaturesLoadEvent>;
      await server.release();
      const event = await load;
      expect(event).to.be.instanceOf(PluginFeaturesLoadEvent);
      expect(event.record).to.equal(element.record);
      expect([event.bubbles, event.composed, event.target]).to.deep.equal([true, true, element]);
      expect(element.record).to.deep.equal(record);
      expect(element.state).to.equal('ready');
      expect(states(element)).to.deep.equal(['ready', 'testing']);
      expect(texts(element, 'name')).to.have.length(3);
      await expect(element).to.be.accessible();
    });

    it('has no :state(testing) without a testing service', async () => {
      const server = await builderThat({ json: { ...record, features: ['stream_builds'] } });
      const element = await loaded(await create(server.url()));
      expect(states(element)).to.deep.equal(['ready']);
    });

    it('has slots for the loading and the error view', async () => {
      const server = await builderThat({ status: 404, delay: 'hang' });
      const element = await fixture<PluginFeaturesElement>(
        html`<plugin-features builder=${server.url()}>
          <i slot="loading">One moment</i><b slot="error">Sorry</b>
        </plugin-features>`,
      );
      const [loading, sorry] = element.children;
      expect(loading?.assignedSlot?.name).to.equal('loading');
      const failed = oneEvent(element, 'plugin-features-error');
      await server.release();
      await failed;
      expect(loading?.assignedSlot).to.equal(null);
      expect(sorry?.assignedSlot?.name).to.equal('error');
    });

    it('provides a record that nobody can change', async () => {
      const server = await builderThat({ json: { ...record, limits: { memory: [1] } } });
      const element = await loaded(await create(server.url()));
      const received = element.record as typeof record & { limits: { memory: number[] } };
      expect(received.limits.memory).to.deep.equal([1]);
      for (const frozen of [received, received.features, received.languages[0], received.limits.memory]) {
        expect(Object.isFrozen(frozen)).to.equal(true);
      }
      expect(() => Object.assign(element, { record: undefined })).to.throw(TypeError);
      expect(() => Object.assign(element, { state: 'idle' })).to.throw(TypeError);
    });
  });

  describe('its errors', () => {
    const cases: [string, Parameters<typeof builderThat>[0], string, RegExp][] = [
      ['a refusal', { status: 403 }, 'HttpError', /answered 403$/],
      ['an HTML page', { html: '<h1>Sign in, secret</h1>' }, 'SchemaError', /not JSON$/],
      [
        'a wrong shape',
        { json: { features: [], languages: [{ identifier: 1 }] } },
        'SchemaError',
        /languages\.0/,
      ],
      [
        'an answer without CORS headers',
        { json: record, cors: false },
        'NetworkError',
        /could not be reached$/,
      ],
      ['a redirect', { redirect: '/login' }, 'HttpError', /redirect/],
    ];
    for (const [what, rule, name, message] of cases) {
      it(`include ${what}, with a button to retry`, async () => {
        const server = await builderThat(rule);
        const element = await create(server.url());
        const event = (await oneEvent(
          element,
          'plugin-features-error',
        )) as unknown as PluginFeaturesErrorEvent;
        expect(event).to.be.instanceOf(PluginFeaturesErrorEvent);
        expect([event.bubbles, event.composed]).to.deep.equal([true, true]);
        expect(event.error).to.equal(element.error);
        expect(element.error?.name).to.equal(name);
        expect(element.error?.message).to.match(message);
        expect(element.state).to.equal('error');
        expect(states(element)).to.deep.equal(['error']);
        expect(parts(element, 'error')).to.have.length(1);
        expect(text(element)).to.include('The languages could not be loaded.');
        expect(text(element)).not.to.include('secret');
        expect(retryButton(element).textContent).to.equal('Try again');
      });
    }

    it('have an accessible view', async () => {
      const server = await builderThat({ status: 404 });
      const element = await create(server.url());
      await oneEvent(element, 'plugin-features-error');
      await expect(element).to.be.accessible();
    });

    it('come after three attempts at a failing builder', async () => {
      const server = await builderThat({ status: 500, headers: { 'retry-after': '0' } });
      const element = await create(server.url());
      await oneEvent(element, 'plugin-features-error');
      expect(element.error?.message).to.match(/answered 500$/);
      expect(await server.requests()).to.have.length(3);
    });

    it('can be retried with the button, which keeps the focus', async () => {
      const server = await builderThat({ status: 404, times: 1 }, { json: record });
      const element = await create(server.url());
      element.selectable = true;
      await oneEvent(element, 'plugin-features-error');
      retryButton(element).focus();
      retryButton(element).click();
      await loaded(element);
      expect(element.error).to.equal(undefined);
      expect(parts(element, 'error')).to.have.length(0);
      await until('focus on a language', () => element.shadowRoot?.activeElement?.localName === 'input');
      expect(await server.requests()).to.have.length(2);
    });

    it('are announced again when a retry fails', async () => {
      const server = await builderThat({ status: 404 });
      const element = await create(server.url());
      await oneEvent(element, 'plugin-features-error');
      retryButton(element).focus();
      retryButton(element).click();
      await oneEvent(element, 'plugin-features-error');
      await until('focus on the button', () => element.shadowRoot?.activeElement === retryButton(element));
      expect(await server.requests()).to.have.length(2);
    });

    for (const bad of ['builder.example.com', '/api', 'javascript:alert(1)', 'ftp://example.com/x']) {
      it(`come without a request for ${bad} as a builder`, async () => {
        const server = await builder();
        const element = await create(bad);
        expect(element.state).to.equal('error');
        expect(element.error?.name).to.equal('PluginEditorError');
        expect(element.error).to.have.property('code', 'config');
        expect(element.error?.message).to.equal('builder must be an http or https address');
        expect((await rejection(element.refresh())).message).to.equal(element.error?.message);
        element.builder = server.url();
        await loaded(element);
        expect(await server.requests()).to.have.length(1);
      });
    }

    it('do not repeat the password of a builder', async () => {
      const server = await builder();
      const element = await create(server.url().replace('://', '://me:hush@'));
      expect(element.error?.message).to.equal('builder must not hold a user name or password');
      expect(text(element)).not.to.include('hush');
      await settle();
      expect(await server.requests()).to.have.length(0);
    });
  });

  it('does nothing for focus() and refresh() before it is in a page', async () => {
    const element = document.createElement('plugin-features');
    element.builder = 'https://builder.example';
    element.focus();
    await element.refresh();
    expect(element.state).to.equal('idle');
  });

  describe('refresh()', () => {
    it('requests again, and keeps the list until the response', async () => {
      const newer = { features: [], languages: [{ identifier: 'go', pretty: 'Go', short: 'GO' }] };
      const server = await builderThat({ json: record, times: 1 }, { json: newer, delay: 'hang' });
      const element = await loaded(await create(server.url()));
      const done = element.refresh();
      await server.requests(2);
      await element.updateComplete;
      expect(element.state).to.equal('loading');
      expect(texts(element, 'name')).to.have.length(3);
      const load = oneEvent(element, 'plugin-features-load');
      await server.release();
      await done;
      await load;
      expect(element.record).to.deep.equal(newer);
      expect(texts(element, 'name')).to.deep.equal(['Go']);
    });

    it('rejects with the error, and keeps the list beside it', async () => {
      const server = await builderThat({ json: record, times: 1 }, { status: 404 });
      const element = await loaded(await create(server.url()));
      const error = await rejection(element.refresh());
      expect(error).to.equal(element.error);
      expect(error.name).to.equal('HttpError');
      expect(element.state).to.equal('error');
      expect(element.record).to.deep.equal(record);
      expect(texts(element, 'name')).to.have.length(3);
      expect(parts(element, 'error')).to.have.length(1);
    });
  });
});
