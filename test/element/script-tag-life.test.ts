import { expect } from '@open-wc/testing';

import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import { moduleServer } from '../editor-module/module-page.ts';
import { type Page, openPage } from './plugin-editor-page.ts';
import {
  type PluginEditorElement,
  type ScriptedServer,
  create,
  untilError,
  frameOf,
  frames,
  untilState,
  part,
  rejection,
} from './plugin-editor-setup.ts';
import { FEATURES, checked, loaded, radios, record } from './plugin-features-helpers.ts';
import { until } from '../support/until.ts';

// The script-tag file has shorter names for properties, and less of Lit, than the modules in all other tests. So
// it runs through the whole life of an editor, on two origins.

/** The script of the editor. `saves` is its reply to a `save-request`. */
const EDITOR = `capabilities: ['open'],
  onSave: async () => {
    report({ type: 'onSave' });
    if (self.failure) throw new Error(self.failure);
    launcher.dirty(false);
    launcher.save();
  },
  onConfigure: (changes) => report({ type: 'onConfigure', changes }),`;

type SeenEvent = Event & Record<string, unknown>;

/** An element that the script-tag file defines, on a separate page, with its events and the calls of its editor. */
class World {
  readonly page: Page;
  readonly element: PluginEditorElement;
  readonly events: SeenEvent[] = [];
  readonly received: Record<string, unknown>[] = [];

  constructor(page: Page, element: PluginEditorElement) {
    this.page = page;
    this.element = element;
    page.contentWindow.addEventListener(
      'message',
      ({ data }) => data?.received && this.received.push(data.received),
    );
    for (const name of 'ready error expiring plugin discard dirty save build test deploy live'.split(' ')) {
      element.addEventListener(`plugin-editor-${name}`, (event) => this.events.push(event as SeenEvent));
    }
  }

  eventsOf(name: string): SeenEvent[] {
    return this.events.filter(({ type }) => type === `plugin-editor-${name}`);
  }

  calls(type: string): Record<string, unknown>[] {
    return this.received.filter((each) => each['type'] === type);
  }

  /** Waits until a callback of the editor was called `times` times, and resolves with the last call. */
  async call(type: string, times = 1): Promise<Record<string, unknown>> {
    await until(`a call of ${type}`, () => this.calls(type).length >= times);
    return this.calls(type)[times - 1] as Record<string, unknown>;
  }

  /** Evaluates code in the page of the editor, and waits until the messages that it sends have arrived. */
  async run(code: string): Promise<void> {
    const mark = Math.random();
    const done = new Promise<void>((resolve) => {
      this.page.contentWindow.addEventListener('message', ({ data }) => data?.mark === mark && resolve());
    });
    frameOf(this.element).contentWindow?.postMessage(
      { evaluate: `${code}; parent.postMessage({ mark: ${mark} }, '*')` },
      '*',
    );
    await done;
  }
}

/**
 * Gives the editor a minute instead of two seconds (`SAVE_TIME` in `src/element/unsaved-work.ts`) to save before a change,
 * because saving may take longer on a busy machine. Returns how often it was given.
 */
function extendSaving({ contentWindow }: Page): () => number {
  const set = contentWindow.setTimeout.bind(contentWindow);
  let count = 0;
  contentWindow.setTimeout = ((code: () => void, ms?: number) => {
    if (ms !== 2000) return set(code, ms);
    count += 1;
    return set(code, 60_000);
  }) as typeof setTimeout;
  return () => count;
}

async function open(server: ScriptedServer, changes: Record<string, unknown> = {}): Promise<World> {
  const page = await openPage(server, { module: '/built/plugin-editor.js' });
  const world = new World(page, create(server, changes, page.contentDocument));
  page.contentDocument.body.append(world.element);
  return world;
}

const plugin = { ident: 'com.example.tenant-1', namespace: 'default', fn: 'add-record' };

describe('the script-tag file', () => {
  it('opens, saves, switches, renews, styles, reloads and closes an editor', async () => {
    const server = await moduleServer(EDITOR);
    const world = await open(server, {
      'token-delivery': 'message',
      locale: 'de',
      style: '--plugin-editor-accent: red',
      initialSource: { contents: 'x', lang: 'typescript' },
    });
    const { element } = world;
    const extended = extendSaving(world.page);
    await untilState(element, 'ready');
    const { open: opened } = (await world.call('onOpen')) as { open: Record<string, unknown> };
    expect(opened).to.deep.include({
      ...plugin,
      builder: server.url(),
      token: 'token-1',
      locale: 'de',
      initialSource: { contents: 'x', lang: 'typescript' },
    });
    expect(opened['appearance']).to.include({ accent: 'rgb(255, 0, 0)' });
    expect(Date.parse(String(opened['expiresAt']))).to.be.above(Date.now());
    await world.run(
      `launcher.ready({ language: 'typescript', exists: true, permissions: ['read', 'write'] })`,
    );
    expect(element.plugin).to.deep.equal({
      ...plugin,
      language: 'typescript',
      exists: true,
      permissions: ['read', 'write'],
    });

    // The editor reports its work.
    await world.run(`launcher.build({ succeeded: true, outputLog: 'fine' });
      launcher.test({ name: 't', result: 'r', passed: true });
      launcher.deploy({ version: 'v1.0.0', unchanged: true });
      launcher.live({ version: null })`);
    expect(world.eventsOf('build')[0]).to.include({ ...plugin, succeeded: true, outputLog: 'fine' });
    expect(world.eventsOf('test')[0]).to.include({ ...plugin, name: 't', result: 'r', passed: true });
    expect(world.eventsOf('deploy')[0]).to.include({ ...plugin, version: 'v1.0.0', unchanged: true });
    expect(world.eventsOf('live')[0]).to.include({ ...plugin, version: null });

    // Unsaved work, and saving it.
    await world.run('launcher.dirty(true)');
    expect(element.dirty).to.equal(true);
    const leaving = new Event('beforeunload', { cancelable: true });
    world.page.contentWindow.dispatchEvent(leaving);
    expect(leaving.defaultPrevented).to.equal(true);
    await element.save();
    expect(element.dirty).to.equal(false);
    expect(world.eventsOf('save')).to.have.length(1);
    await world.run(`self.failure = 'a conflict'; launcher.dirty(true)`);
    const refused = await rejection(element.save());
    expect(refused.code).to.equal('editor');
    expect(refused.message).to.contain('a conflict');

    // Another plugin while work is unsaved: kept by the page, then saved by the editor.
    element.addEventListener('plugin-editor-discard', (event) => event.preventDefault(), { once: true });
    element.fn = 'other';
    await until('the question about unsaved work', () => world.eventsOf('discard').length === 1);
    const [discard] = world.eventsOf('discard') as [SeenEvent];
    expect(discard).to.deep.include({ ...plugin, next: { ...plugin, fn: 'other' } });
    expect(discard['error']).to.include({ code: 'editor' });
    expect(element.plugin?.fn).to.equal('add-record');
    await world.run(`self.failure = ''; launcher.dirty(false)`);
    await world.call('onOpen', 2);
    await untilState(element, 'ready');
    expect(element.plugin).to.include({ fn: 'other' });
    await world.run('launcher.dirty(true)');
    element.fn = 'third';
    await world.call('onOpen', 3);
    await untilState(element, 'ready');
    expect(world.eventsOf('discard')).to.have.length(1);
    expect(element.plugin).to.include({ fn: 'third' });
    expect(extended()).to.equal(2);

    // The page's look, its language and the token, each without loading anything.
    const frame = frameOf(element);
    element.style.setProperty('--plugin-editor-accent', 'rgb(1, 2, 3)');
    element.refreshAppearance();
    await world.call('onConfigure');
    element.readOnly = true;
    element.locale = 'fr';
    await until('a configuration in French', () =>
      JSON.stringify(world.calls('onConfigure')).includes('"fr"'),
    );
    const changes = Object.assign({}, ...world.calls('onConfigure').map((each) => each['changes'])) as Record<
      string,
      unknown
    >;
    expect(changes).to.include({ readOnly: true, locale: 'fr' });
    expect(changes['appearance']).to.include({ accent: 'rgb(1, 2, 3)' });
    await element.renewToken();
    expect(await world.call('onToken')).to.deep.include({ token: { token: 'token-2' } });
    const renewal = world.run(`launcher.requestToken('expired').then(() => report({ type: 'given' }))`);
    await world.call('given');
    await renewal;
    expect(frameOf(element)).to.equal(frame);

    // Reloading and closing.
    await element.reload();
    expect(frameOf(element)).not.to.equal(frame);
    expect(element.state).to.equal('ready');
    const closed = element.close();
    await world.call('onClose');
    await closed;
    expect(element.state).to.equal('idle');
    expect(element.plugin).to.equal(undefined);
    expect(frames(element)).to.have.length(0);
  });

  it('shows a silent editor, and errors with their ways out', async () => {
    const server = await moduleServer(
      '',
      { path: '/token', times: 1, status: 403 },
      { path: '/silent', html: '<p>Editor' },
    );
    const world = await open(server, { 'editor-url': server.url('/silent') });
    const { element } = world;
    const refused = await untilError(element);
    expect(refused).to.include({ code: 'token-unauthorized', status: 403, attempts: 1 });
    expect(part(element, 'error')?.textContent.trim()).not.to.equal('');
    expect(part(element, 'retry')).to.equal(null);
    await element.reload();
    expect(world.eventsOf('ready').at(-1)).to.include({ confirmed: false });
    expect(new URL(frameOf(element).src).searchParams.get('token')).to.equal('token-1');
    expect((await rejection(element.renewToken())).code).to.equal('editor');

    element.editorUrl = server.url('/editor?mute');
    await world.call('onOpen');
    await world.run(`plugin.error('no such plugin')`);
    expect((await untilError(element)).code).to.equal('editor');
    expect(part(element, 'error')?.textContent).to.contain('no such plugin');
    element.editorUrl = server.url('/editor');
    await untilState(element, 'ready');

    element.fetchToken = () => Promise.reject(new Error('away'));
    element.ident = 'com.example.tenant-2';
    expect((await untilError(element)).code).to.equal('token-source');
    element.fetchToken = ({ ident, fn }) => Promise.resolve({ token: `${ident}/${fn}`, expires_in: 60 });
    part(element, 'retry')?.click();
    await untilState(element, 'ready');
    expect(new URL(frameOf(element).src).searchParams.get('token')).to.equal(
      'com.example.tenant-2/add-record',
    );
    element.builder = 'ftp://builder';
    const wrong = await untilError(element);
    expect(wrong.code).to.equal('config');
    expect(wrong.message).to.contain('builder');
  });

  it('shows the languages of a builder, in step with the editor', async () => {
    const server = await moduleServer(
      EDITOR,
      { path: FEATURES, times: 1, status: 404 },
      { path: FEATURES, json: record },
    );
    const world = await open(server, { 'token-delivery': 'message', id: 'one' });
    const { element } = world;
    const form = world.page.contentDocument.createElement('form');
    form.innerHTML = '<plugin-features for="one" name="language" required></plugin-features>';
    const features = form.firstChild as PluginFeaturesElement;
    element.before(form);
    await until('an error', () => features.state === 'error');
    expect(features.error).to.include({ name: 'HttpError', status: 404 });
    await features.refresh();
    await loaded(features);
    expect(features.matches(':state(testing)')).to.equal(true);
    expect(form.checkValidity()).to.equal(false);
    radios(features)[2]?.click();
    expect(element.template).to.equal('rust');
    expect(new FormData(form).get('language')).to.equal('rust');
    await untilState(element, 'ready');
    await world.run(`launcher.ready({ language: 'typescript', exists: true })`);
    await features.updateComplete;
    expect(checked(features)).to.deep.equal(['typescript']);
    expect(radios(features).map(({ disabled }) => disabled)).to.deep.equal([true, false, true]);
    expect(new FormData(form).get('language')).to.equal('typescript');
    await element.close();
  });
});
