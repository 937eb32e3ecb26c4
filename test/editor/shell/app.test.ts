import { redo, undo } from '@codemirror/commands';
import { expect } from '@open-wc/testing';
import { LocalCopies } from '../../../editor/src/draft/local-copies.ts';
import { texts } from '../../../editor/src/locales/locale.ts';
import { mocksOf } from '../../../editor/src/plugin/mocks.ts';
import type { PluginTarget } from '../../../editor/src/plugin/target.ts';
import { EditorApp } from '../../../editor/src/shell/app.ts';
import { type Rule, type ScriptedServer, scriptedServer } from '../../support/scripted-server.ts';
import { until } from '../../support/until.ts';

const DRAFT = '/api/v1/draft/com.acme.t1/default/add';
const source = {
  contents: 'one',
  lang: 'javascript',
  tests: [{ name: 'a', payload: 'p', x: 1 }],
  owner: 'me',
};
const draft: Rule = { path: DRAFT, method: 'GET', json: source, headers: { etag: '"1"' } };

const PROGRESS = DRAFT.replace('draft', 'progress');
const PLUGIN = DRAFT.replace('draft', 'plugin');
const pluginWith = (revision: string, live: string | null) => ({
  ident: 'com.acme.t1',
  namespace: 'default',
  name: 'add',
  lang: 'javascript',
  draft: { revision, savedAt: '2026-01-01T00:00:00Z' },
  built: live !== null,
  live,
  latest: live,
  pinned: null,
  versions: live === null ? 0 : 1,
  outdated: false,
});

describe('editor app', () => {
  let root: HTMLElement;
  let app: EditorApp;
  let server: ScriptedServer;

  const start = async (...rules: Rule[]) => {
    server = await scriptedServer(...rules);
    app = new EditorApp({ root, builders: [server.sameOrigin.url()] });
    return { builder: server.sameOrigin.url(), ident: 'com.acme.t1', namespace: 'default', fn: 'add' };
  };
  const shows = (text: string) => until(`the text "${text}"`, () => root.textContent?.includes(text));
  const press = (name: string) => {
    const button = [...root.querySelectorAll('button')].find((one) => one.textContent?.trim() === name);
    if (!button) throw new Error(`No button ${name}`);
    button.click();
  };
  const saves: Rule = { path: DRAFT, method: 'POST', json: source, headers: { etag: '"2"' } };
  /** Lets no save of one test end in the next. */
  const untilSaved = async () => {
    app.workspace?.saving.save();
    await shows('Saved ');
    await app.workspace?.saving.whenIdle();
  };
  /** The panels come right after the text. */
  const addTest = async () => {
    await shows('Add test');
    press('Add test');
  };

  /** Keeps a copy of an unsaved text, of a page that is closed. */
  const keepCopy = async (target: PluginTarget) => {
    const closedPage = new LocalCopies(target.builder, target);
    closedPage.keep({ ...source, contents: 'kept' });
    closedPage.close();
    // A copy is only offered once its page has released it.
    await until('the release of the copy', async () => {
      const { held = [], pending = [] } = await navigator.locks.query();
      return ![...held, ...pending].some(({ name = '' }) => name in localStorage);
    });
  };

  beforeEach(() => {
    root = document.createElement('div');
    document.body.append(root);
  });
  afterEach(async () => {
    // It is remembered for the next plugin.
    app.workspace?.dock.show('tests');
    // Ends its timers and its locks, whatever it shows.
    await app.openPlugin({ builder: 'http://127.0.0.1:9', ident: 'a.b', namespace: 'default', fn: 'x' }, 't');
    root.remove();
    localStorage.clear();
  });

  it('sends the token, and keeps unknown fields when it saves', async () => {
    const target = await start(draft, {
      path: DRAFT,
      method: 'POST',
      json: source,
      headers: { etag: '"2"' },
    });
    await app.openPlugin(target, 'secret');
    await addTest();
    app.workspace?.saving.save();
    const [read, save] = await server.requests({ path: DRAFT, count: 2 });
    expect(read?.headers['authorization']).to.equal('Bearer secret');
    expect(save?.headers['authorization']).to.equal('Bearer secret');
    expect(save?.headers['if-match']).to.equal('"1"');
    expect(JSON.parse(save?.body ?? '')).to.deep.equal({
      ...source,
      tests: [...source.tests, { name: 'Test 2', description: '', payload: '' }],
    });
    await shows('Saved ');
    await addTest();
    app.workspace?.saving.save();
    const [, , next] = await server.requests({ path: DRAFT, count: 3 });
    expect(next?.headers['if-match']).to.equal('"2"');
  });

  it('keeps the undo history and the panel for when the plugin is opened again, until it is told to forget it', async () => {
    const saved = { ...source, contents: 'two' };
    const target = await start(
      { ...draft, times: 1 },
      { path: DRAFT, method: 'POST', json: saved, headers: { etag: '"2"' } },
      { path: DRAFT, method: 'GET', json: saved, headers: { etag: '"2"' } },
      { path: DRAFT.replace(/add$/, 'other'), method: 'GET', json: source, headers: { etag: '"1"' } },
    );
    await app.openPlugin(target, 'secret');
    app.workspace?.document.editor.replace('two', 'javascript');
    app.workspace?.dock.show('build');
    await app.openPlugin({ ...target, fn: 'other' }, 'secret');
    await app.openPlugin(target, 'secret');
    const { editor } = app.workspace?.document ?? {};
    expect(editor?.contents).to.equal('two');
    expect(app.workspace?.dock.isInView('build')).to.equal(true);
    editor?.run(undo);
    expect(editor?.contents).to.equal('one');
    editor?.run(redo);
    // Who closes it may be another user than who opens it.
    app.closePlugin();
    await app.openPlugin(target, 'secret');
    app.workspace?.document.editor.run(undo);
    expect(app.workspace?.document.editor.contents).to.equal('two');
  });

  it('brings the former tests back with the text, unless they were edited since', async () => {
    const target = await start(draft, saves);
    await app.openPlugin(target, 'secret');
    const { document: edited } = app.workspace ?? {};
    const names = () => edited?.tests.tests.map(({ name }) => name);
    edited?.replace({ ...source, contents: 'two', tests: [{ name: 'b' }, { name: 'c' }] });
    edited?.editor.run(undo);
    expect([edited?.editor.contents, names()]).to.deep.equal(['one', ['a']]);
    edited?.editor.run(redo);
    expect([edited?.editor.contents, names()]).to.deep.equal(['two', ['b', 'c']]);
    edited?.tests.add({ name: 'd' });
    edited?.editor.run(undo);
    expect([edited?.editor.contents, names()]).to.deep.equal(['one', ['b', 'c', 'd']]);
    await untilSaved();
  });

  it('brings the responses of tests back that those of a run replaced', async () => {
    const target = await start(draft, saves);
    await app.openPlugin(target, 'secret');
    const { document: edited } = app.workspace ?? {};
    const url = 'https://a.example/';
    const call = {
      connection: 'a',
      method: 'GET',
      url,
      status: 200,
      took: 1,
      requestBytes: 0,
      responseBytes: 4,
      responseBody: 'real',
    };
    const bodies = () =>
      edited?.tests.tests.flatMap((one) => mocksOf(one).map(({ response }) => response.body));
    const bringBack = texts().recovery.formerTests.bringBack;
    app.workspace?.takeCalls([call], { payload: 'p' });
    await shows('Add test');
    expect(root.textContent).not.to.contain(bringBack);
    const [first] = edited?.tests.entries ?? [];
    if (first) edited?.tests.setMocks(first, [{ url, response: { body: 'by hand' } }]);
    app.workspace?.takeCalls([call], { payload: 'p' });
    expect(bodies()).to.deep.equal(['real']);
    await shows(bringBack);
    press(bringBack);
    expect(bodies()).to.deep.equal(['by hand']);
    await untilSaved();
  });

  it('continues with another token, and saves what the ended one could not', async () => {
    const target = await start(
      draft,
      { path: DRAFT, method: 'POST', status: 401, json: {}, times: 1 },
      { path: DRAFT, method: 'POST', json: source, headers: { etag: '"2"' } },
    );
    await app.openPlugin(target, 'first');
    await addTest();
    app.workspace?.saving.save();
    await shows('Not saved: your session ended');
    expect(localStorage.length).to.equal(1);
    expect(app.workspace?.saving.isUnsaved).to.equal(true);
    app.replaceToken('second');
    await shows('Saved ');
    const requests = await server.requests({ path: DRAFT, count: 3 });
    expect(requests[2]?.headers['authorization']).to.equal('Bearer second');
    expect(localStorage.length).to.equal(0);
    expect(app.workspace?.saving.isUnsaved).to.equal(false);
    expect(root.textContent).not.to.contain('Your session ended');
  });

  it('creates a plugin anew that was deleted elsewhere only when the user asks for it', async () => {
    const target = await start(
      { ...draft, times: 1 },
      { path: PROGRESS, json: { built: true, deployed: { version: 'v1.0.7', current: true } }, times: 1 },
      { path: PROGRESS, json: { built: false } },
      { path: PLUGIN, json: pluginWith('"1"', 'v1.0.7'), times: 1 },
      { path: PLUGIN, json: pluginWith('"2"', null) },
      { path: DRAFT, method: 'POST', status: 412, json: {}, times: 1 },
      { path: DRAFT, method: 'GET', status: 404, json: {} },
      { path: DRAFT, method: 'POST', status: 500, json: {}, times: 1 },
      { path: DRAFT, method: 'POST', json: source, headers: { etag: '"2"' } },
    );
    const ready: unknown[] = [];
    await app.openPlugin(target, 'secret', { ready: ({ exists } = {}) => ready.push(exists) });
    await shows('v1.0.7 deployed and live');
    await addTest();
    app.workspace?.saving.save();
    await shows('Not saved: the plugin was deleted');
    expect(app.workspace?.work.build).to.deep.equal({ kind: 'none' });
    app.workspace?.saving.save();
    press('Save as a new plugin');
    press('Save as a new plugin');
    await shows('Not saved: the service has a problem');
    app.workspace?.saving.save();
    await shows('Saved ');
    await shows('Not deployed yet');
    expect(root.textContent).not.to.contain('deleted').and.not.to.contain('v1.0.7');
    const writes = await server.requests({ path: DRAFT, method: 'POST' });
    expect(writes.map(({ headers }) => [headers['if-match'], headers['if-none-match']])).to.deep.equal([
      ['"1"', undefined],
      [undefined, '*'],
      [undefined, '*'],
    ]);
    expect(ready).to.deep.equal([true, false, true]);
  });

  it('offers no runs where the service has none, and builds without a stream of the log', async () => {
    const BUILD = '/api/v1/build/javascript/com.acme.t1/default/add';
    const target = await start(
      draft,
      { path: '/api/v1/features', json: { features: [], languages: [] } },
      { path: BUILD, json: { succeeded: true, outputLog: 'All is built.' }, headers: { etag: '"2"' } },
    );
    await app.openPlugin(target, 'secret');
    await until('the features', () => app.workspace?.serviceState.hasFeatures ?? false);
    await app.workspace?.actions.build();
    app.workspace?.dock.show('build');
    await shows('All is built.');
    const [build] = await server.requests({ path: BUILD, count: 1 });
    expect(build?.headers['accept']).to.equal('*/*');
    const names = [...root.querySelectorAll<HTMLElement>('button, [role=tab]')]
      .filter((one) => one.checkVisibility())
      .map((one) => one.ariaLabel ?? one.textContent?.replaceAll(/\s+/g, ''));
    expect(names).to.include('Tests1');
    expect(names.filter((name) => /^(Test|Run)/.test(name ?? ''))).to.deep.equal(['Tests1']);
  });

  it('forgets with another token that the ended one could run nothing', async () => {
    const target = await start(
      draft,
      { path: '/api/v1/features', json: { features: ['testing'], languages: [] } },
      { path: '/api/v1/build/javascript/com.acme.t1/default/add', status: 401, json: {} },
    );
    await app.openPlugin(target, 'first');
    await until('the service that runs plugins', () => app.workspace?.actions.canTest ?? false);
    await app.workspace?.actions.runPayload();
    await shows('Not run: your session ended');
    expect(root.textContent).to.contain('Not built: your session ended');
    app.replaceToken('second');
    await shows('The last build did not finish');
    expect(root.textContent).not.to.contain('session ended');
  });

  it('forgets the same with a token that comes during another action', async () => {
    const BUILD = '/api/v1/build/javascript/com.acme.t1/default/add';
    const target = await start(
      draft,
      { path: '/api/v1/features', json: { features: ['testing'], languages: [] } },
      { path: BUILD, status: 401, json: {}, times: 1 },
      { path: BUILD, delay: 'hang', status: 400, json: {} },
    );
    await app.openPlugin(target, 'first');
    await until('the service that runs plugins', () => app.workspace?.actions.canTest ?? false);
    await app.workspace?.actions.runPayload();
    await shows('Not run: your session ended');
    const build = app.workspace?.actions.build();
    await server.requests({ path: BUILD, count: 2 });
    app.replaceToken('second');
    await server.release(BUILD);
    await build;
    app.workspace?.dock.show('run');
    await until('the end of the reason', () => !root.textContent?.includes('session ended'));
    expect(root.textContent).to.contain('Not built: ');
  });

  it('opens the plugin with another token if the first has ended', async () => {
    const target = await start({ path: DRAFT, status: 401, json: {}, times: 1 }, draft);
    await app.openPlugin(target, 'first');
    expect(root.textContent).to.contain('Your session ended');
    app.replaceToken('second');
    await shows('All changes saved');
  });

  for (const [what, rule, message, again] of [
    ['401', { status: 401, json: {} }, 'Your session ended', false],
    ['403', { status: 403, json: {} }, 'You cannot edit this plugin', false],
    ['400', { status: 400, json: {} }, 'refused to open this plugin', true],
    ['500', { status: 500, html: '<b>stack trace</b>' }, 'has a problem', true],
    ['HTML, not a record,', { html: '<h1>Sign in</h1>' }, 'has a problem', true],
    ['a record of the wrong shape', { json: { contents: 1 } }, 'has a problem', true],
    ['no connection', { drop: 'start' }, 'cannot be reached', true],
    ['a redirect', { redirect: '/login' }, 'has a problem', true],
  ] as [string, Omit<Rule, 'path'>, string, boolean][]) {
    it(`explains ${what} in plain words${again ? ', and tries again' : ''}`, async () => {
      const target = await start({ path: DRAFT, ...rule });
      await app.openPlugin(target, 'secret');
      expect(root.querySelector('[role=alert]')?.textContent).to.contain(message);
      expect(root.textContent).not.to.match(/secret|stack|Sign in/);
      expect(root.querySelectorAll('button').length).to.equal(again ? 1 : 0);
      if (!again) return;
      await server.reset(draft);
      press('Try again');
      await shows('All changes saved');
    });
  }

  it('starts from the template of the language, and does not save it unasked', async () => {
    const target = await start(
      { path: DRAFT, status: 404, json: {} },
      { path: '/api/v2/template/typescript/add', json: { contents: 'template', lang: 'typescript' } },
    );
    await app.openPlugin({ ...target, namespace: 'default', template: 'typescript' }, 'secret');
    expect(root.querySelector('.cm-content')?.textContent).to.equal('template');
    expect(root.textContent).to.contain('New plugin, not saved yet');
    expect(app.workspace?.saving.isUnsaved).to.equal(false);
    const [template] = await server.requests({ path: '/api/v2/template/typescript/add', count: 1 });
    expect(template?.query).to.deep.equal({ namespace: 'default' });
    const requests = await server.requests();
    // Problems are looked for all the same, which keeps nothing.
    const writes = requests.filter(
      ({ method, path }) => method === 'POST' && !path.startsWith('/api/v1/check/'),
    );
    expect(writes).to.deep.equal([]);
  });

  it('offers the languages when none, or an unknown one, was named', async () => {
    const languages = [{ identifier: 'zig', pretty: '<b>Zig</b>', short: 'z' }];
    const target = await start(
      { path: DRAFT, status: 404, json: {} },
      { path: '/api/v1/features', json: { features: [], languages } },
      { path: '/api/v2/template/zig/add', json: { contents: 'zig!', lang: 'zig' } },
    );
    await app.openPlugin({ ...target, template: 'cobol' }, 'secret');
    expect(root.textContent).to.contain('no template for “cobol”');
    await app.openPlugin(target, 'secret');
    expect(root.textContent).not.to.contain('cobol');
    expect(root.querySelector('.choice-name')?.textContent).to.equal('<b>Zig</b>');
    await expect(root).to.be.accessible({ ignoredRules: ['color-contrast'] });
    root.querySelector<HTMLElement>('.choice')?.click();
    await until(
      'the text of the other plugin',
      () => root.querySelector('.cm-content')?.textContent === 'zig!',
    );
    expect(root.querySelector('.badge')?.textContent).to.equal('zig');
  });

  it('begins in the language whose template came first, and stays open when another template fails', async () => {
    const SLOW = '/api/v2/template/zig/add';
    const languages = ['zig', 'go'].map((name) => ({ identifier: name, pretty: name, short: name }));
    const target = await start(
      { path: DRAFT, status: 404, json: {} },
      { path: '/api/v1/features', json: { features: [], languages } },
      { path: SLOW, delay: 'hang', status: 400, json: {} },
      { path: '/api/v2/template/go/add', json: { contents: 'go!', lang: 'go' } },
    );
    await app.openPlugin(target, 'secret');
    const [zig, go] = root.querySelectorAll<HTMLElement>('.choice');
    zig?.click();
    await server.requests({ path: SLOW, count: 1 });
    go?.click();
    await until('the text in Go', () => root.querySelector('.cm-content')?.textContent === 'go!');
    await server.release(SLOW);
    // What follows a response is done before the next one arrives.
    await fetch(server.sameOrigin.url('/api/v1/features'));
    expect(root.querySelector('.cm-content')?.textContent).to.equal('go!');
    expect(root.querySelector('[role=alert]')).to.equal(null);
  });

  it('begins with what this browser kept where the user would choose a language', async () => {
    const languages = [{ identifier: 'javascript', pretty: 'JavaScript', short: 'js' }];
    const target = await start(
      { path: DRAFT, method: 'GET', status: 404, json: {} },
      { path: '/api/v1/features', json: { features: [], languages } },
      saves,
    );
    await keepCopy(target);
    await app.openPlugin(target, 'secret');
    await shows('Choose a language');
    await shows('This browser kept changes');
    press('Restore');
    const [save] = await server.requests({ path: DRAFT, method: 'POST', count: 1 });
    expect(JSON.parse(save?.body ?? '')).to.deep.equal({ ...source, contents: 'kept' });
    await shows('Saved ');
    expect(root.querySelector('.cm-content')?.textContent).to.equal('kept');
    expect(localStorage.length).to.equal(0);
  });

  it('offers no new plugin once the service has said that the token only reads', async () => {
    const SESSION = '/api/v1/session';
    const target = await start(
      { path: DRAFT, status: 404, json: {} },
      {
        path: '/api/v1/features',
        json: { features: [], languages: [{ identifier: 'go', pretty: 'Go', short: 'go' }] },
      },
      { path: SESSION, delay: 'hang', json: { environment: 'com.acme', permissions: ['read'] } },
    );
    const ready: unknown[] = [];
    await app.openPlugin(target, 'secret', { ready: (plugin) => ready.push(plugin) });
    await shows('Choose a language');
    await server.release(SESSION);
    await shows('you may only look at plugins here');
    expect(root.querySelector('.choice')).to.equal(null);
    expect(ready).to.deep.equal([{ exists: false }, { exists: false, permissions: ['read'] }]);
  });

  it('takes over what another token permits', async () => {
    const SESSION = '/api/v1/session';
    const target = await start(
      draft,
      { path: SESSION, json: { environment: 'com.acme', permissions: ['read', 'write'] }, times: 1 },
      { path: SESSION, json: { environment: 'com.acme', permissions: ['read'] }, times: 1 },
      { path: SESSION, delay: 'hang', status: 400, json: {} },
    );
    const ready: unknown[] = [];
    await app.openPlugin(target, 'first', {
      ready: ({ permissions } = {}) => permissions && ready.push(permissions),
    });
    await shows('Add test');
    app.replaceToken('second');
    await shows('You may look at this plugin, and not change it.');
    expect(root.textContent).not.to.contain('Add test');
    app.replaceToken('third');
    await server.release(SESSION);
    // What follows a response is done before the next one arrives.
    await fetch(server.sameOrigin.url('/api/v1/features'));
    expect(root.textContent).to.contain('You may look at this plugin, and not change it.');
    expect(root.textContent).not.to.contain('Add test');
    expect(ready).to.deep.equal([['read', 'write'], ['read']]);
  });

  it('keeps what is not saved when another token does not permit to save it', async () => {
    const SESSION = '/api/v1/session';
    const target = await start(
      draft,
      { path: SESSION, json: { environment: 'com.acme', permissions: ['read', 'write'] }, times: 1 },
      { path: SESSION, json: { environment: 'com.acme', permissions: ['read'] } },
      { path: DRAFT, method: 'POST', status: 403, json: {} },
    );
    const ready: unknown[] = [];
    await app.openPlugin(target, 'first', { ready: ({ permissions } = {}) => ready.push(permissions) });
    await until('what the token permits', () => String(ready.at(-1)) === 'read,write');
    await addTest();
    app.replaceToken('second');
    await until('what the second token permits', () => String(ready.at(-1)) === 'read');
    expect(localStorage.length).to.equal(1);
    await server.requests({ path: DRAFT, method: 'POST', count: 1 });
  });

  it('saves nothing over another edit where the text became read-only while the user chose', async () => {
    const target = await start(
      { ...draft, times: 1 },
      { ...draft, json: { ...source, contents: 'theirs' }, headers: { etag: '"2"' } },
      { path: DRAFT, method: 'POST', status: 412, json: {}, times: 1 },
      saves,
    );
    await app.openPlugin(target, 'secret');
    await addTest();
    await shows('Compare and choose');
    press('Compare and choose');
    const inDialog = () =>
      [...document.querySelectorAll<HTMLElement>('dialog button')].find(
        ({ textContent }) => textContent?.trim() === texts().conflict.keepMine,
      );
    await until('the choice', () => inDialog() !== undefined);
    app.workspace?.setReadOnly(true);
    inDialog()?.click();
    await until('the end of the dialog', () => document.querySelector('dialog') === null);
    // What follows a choice is done before a response arrives.
    await fetch(server.sameOrigin.url('/api/v1/features'));
    expect((await server.requests({ path: DRAFT, method: 'POST' })).length).to.equal(1);
    expect(app.workspace?.saving.state).to.deep.equal({ kind: 'failed', failure: 'conflict' });
  });

  it('checks the text once another token permits to change it', async () => {
    const SESSION = '/api/v1/session';
    const CHECK = '/api/v1/check/javascript/com.acme.t1/default/add';
    const target = await start(
      { ...draft, delay: 'hang' },
      { path: SESSION, json: { environment: 'com.acme', permissions: ['read'] }, times: 1 },
      { path: SESSION, json: { environment: 'com.acme', permissions: ['read', 'write'] } },
      { path: CHECK, json: { diagnostics: [] } },
    );
    const opened = app.openPlugin(target, 'first');
    await server.requests({ path: SESSION, count: 1 });
    // What follows a response is done before the next one arrives.
    await fetch(server.sameOrigin.url('/api/v1/features'));
    await server.release(DRAFT);
    await opened;
    await shows('You may look at this plugin, and not change it.');
    expect(await server.requests({ path: CHECK })).to.deep.equal([]);
    app.replaceToken('second');
    await server.requests({ path: CHECK, count: 1 });
  });

  it('asks once what another token permits, and no more where the service has no such operation', async () => {
    const SESSION = '/api/v1/session';
    const target = await start(
      draft,
      { path: SESSION, status: 400, json: {}, times: 2 },
      { path: SESSION, delay: 'hang', status: 404, json: {} },
    );
    await app.openPlugin(target, 'first');
    await server.requests({ path: SESSION, count: 1 });
    app.replaceToken('second');
    await server.requests({ path: SESSION, count: 2 });
    app.workspace?.resume();
    await server.release(SESSION);
    await app.workspace?.session.details;
    app.workspace?.resume();
    app.replaceToken('third');
    await server.requests({ path: PLUGIN, count: 5 });
    expect((await server.requests({ path: SESSION })).length).to.equal(3);
  });

  it('asks again what the token permits where the service could not say it', async () => {
    const SESSION = '/api/v1/session';
    const target = await start(
      draft,
      { path: SESSION, status: 400, json: {}, times: 1 },
      { path: SESSION, json: { environment: 'com.acme', permissions: ['read'] } },
    );
    await app.openPlugin(target, 'secret');
    await shows('Add test');
    app.workspace?.resume();
    await shows('You may look at this plugin, and not change it.');
    expect(root.textContent).not.to.contain('Add test');
  });

  it('sends nothing to a builder that it is not configured for', async () => {
    const target = await start(draft);
    await app.openPlugin({ ...target, builder: server.url() }, 'secret');
    expect(root.textContent).to.contain('does not know that plugin service');
    await app.openPlugin({ ...target, builder: server.sameOrigin.url('/other') }, 'secret');
    expect(root.textContent).to.contain('does not know that plugin service');
    await app.openPlugin(target, 'secret');
    const requests = await server.requests({ path: DRAFT, count: 1 });
    expect(requests.map(({ path }) => path)).to.deep.equal([DRAFT]);
    const all = await server.requests();
    expect(all.filter(({ path }) => path.startsWith('/other'))).to.deep.equal([]);
  });

  it('refuses unusable values before any request', async () => {
    const target = await start(draft);
    for (const [change, token, word] of [
      [{ fn: '..' }, 't', 'fn'],
      [{ ident: 'acme' }, 't', 'ident'],
      [{}, 'not a token', 'token'],
    ] as const) {
      await app.openPlugin({ ...target, ...change }, token);
      expect(root.textContent).to.contain('cannot be opened').and.to.contain(word);
      expect(root.textContent).not.to.contain('not a token');
    }
    expect(await server.requests()).to.deep.equal([]);
  });

  it('shows the plugin that was requested last', async () => {
    const target = await start(
      { ...draft, delay: 'hang' },
      { path: '/api/v1/draft/com.acme.t1/default/other', json: { contents: 'other', lang: 'javascript' } },
    );
    const first = app.openPlugin(target, 'secret');
    await server.requests({ path: DRAFT, count: 1 });
    await app.openPlugin({ ...target, fn: 'other' }, 'secret');
    await first;
    await server.aborted({ path: DRAFT, count: 1 });
    expect(root.querySelector('h1')?.textContent).to.equal('other');
    expect(root.querySelector('.cm-content')?.textContent).to.equal('other');
  });

  it('keeps unsaved work in this browser when another plugin is opened', async () => {
    const target = await start(
      draft,
      { path: DRAFT, method: 'POST', status: 503, json: {} },
      { path: '/api/v1/draft/com.acme.t1/default/other', json: source },
    );
    await app.openPlugin(target, 'secret');
    await addTest();
    await app.openPlugin({ ...target, fn: 'other' }, 'secret');
    await server.requests({ method: 'POST', count: 1 });
    expect(root.textContent).not.to.contain('Restore');
    expect(Object.values(localStorage).join('')).to.contain('Test 2');
  });

  it('says that a draft keeps its language, behind the offer of unsaved text', async () => {
    const FEATURES = '/api/v1/features';
    const target = await start(draft, {
      path: FEATURES,
      json: { features: [], languages: [{ identifier: 'typescript', pretty: 'TypeScript', short: 'ts' }] },
    });
    await keepCopy(target);
    await app.openPlugin({ ...target, template: 'typescript' }, 'secret');
    await shows('This browser kept changes');
    // What the editor loads for it is there by now, too.
    await import('../../../editor/src/workspace/start-over.ts');
    await new Promise(requestAnimationFrame);
    await shows('This browser kept changes');
    press('Discard');
    await shows(texts().recovery.discarded);
    press('Dismiss');
    await shows(texts().language.stays('TypeScript', 'JavaScript'));
    // A button that is pressed twice opens one dialog.
    const startOver = texts().language.startOverIn('TypeScript');
    press(startOver);
    press(startOver);
    await server.requests({ path: FEATURES, count: 3 });
    // What follows a response is done before the next one arrives.
    await fetch(server.sameOrigin.url(FEATURES));
    expect(document.querySelectorAll('dialog[open] .choice').length).to.equal(1);
  });

  it('closes the dialogs of a plugin when another one is opened, and changes neither', async () => {
    const OTHER = '/api/v1/draft/com.acme.t1/default/other';
    const target = await start(draft, {
      path: OTHER,
      json: { contents: 'other', lang: 'javascript' },
      headers: { etag: '"1"' },
    });
    await keepCopy(target);
    await app.openPlugin(target, 'secret');
    await shows('This browser kept changes');
    press('Compare');
    await until('the comparison', () => document.querySelector('dialog[open]') !== null);
    await app.openPlugin({ ...target, fn: 'other' }, 'secret');
    await until('the end of the dialog', () => document.querySelector('dialog') === null);
    expect(app.workspace?.document.source.contents).to.equal('other');
    expect(app.workspace?.saving.isUnsaved).to.equal(false);
    expect(Object.values(localStorage).join('')).to.contain('kept');
  });
});
