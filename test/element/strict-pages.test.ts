import { expect, oneEvent } from '@open-wc/testing';

import {
  BUILDER,
  EDITOR,
  HOST,
  type Source,
  editorSources,
  hostSources,
  policy,
} from '../../tools/generate/example-policies.ts';
import { openPage } from './plugin-editor-page.ts';
import {
  type PluginEditorElement,
  type ScriptedServer,
  SECRET,
  untilChangeTo,
  create,
  untilError,
  frameOf,
  untilState,
  part,
} from './plugin-editor-setup.ts';
import { FEATURES, loaded, record, retryButton } from './plugin-features-helpers.ts';
import { type Rule, scriptedServer } from '../support/scripted-server.ts';

const SCRIPTS = {
  'modules from npm, bundled': '<script type="module" src="/built/modules.js"></script>',
  'the module script': '<script type="module" src="/built/plugin-editor.js"></script>',
  'the classic script': '<script defer src="/built/plugin-editor.iife.js"></script>',
};
const SCRIPT = SCRIPTS['the module script'];

/** A minimal editor, which violates its own policy on request. */
const EDITOR_MAIN = `
  import { connectLauncher } from './editor.js';
  connectLauncher({
    async onOpen({ builder, token }, plugin) {
      // When its request is blocked it stays silent, so that the frame remains while the browser sends its report.
      await fetch(builder + '/api/v1/draft', { headers: { authorization: 'Bearer ' + token } })
        .then(() => plugin.ready(), () => {});
    },
  });
  addEventListener('message', ({ data }) => {
    if (data === 'break') document.body.setAttribute('style', 'color: red');
  });`;

const javascript = { 'content-type': 'text/javascript' };
let editorModule: string;

/** A server with an editor and the strictest policies for both pages, without one of the required sources. */
async function strictServer(rules: Rule[] = [], without?: Source) {
  const server = await scriptedServer();
  const origins = { [HOST]: location.origin, [EDITOR]: server.origin, [BUILDER]: server.crossSite.origin };
  const header = (sources: readonly Source[], reportTo: string) => ({
    'content-security-policy': `${policy(sources, origins, without)}; report-uri ${reportTo}`,
  });
  await server.on(
    ...rules,
    { path: '/token', json: { token: SECRET } },
    { path: FEATURES, json: record },
    { path: '/api/v1/draft', json: {} },
    { path: '/editor.js', body: editorModule, headers: javascript },
    { path: '/main.js', body: EDITOR_MAIN, headers: javascript },
    {
      path: '/editor',
      headers: header(editorSources, server.url('/editor-report')),
      html: '<!doctype html><title>Editor</title><script type="module" src="main.js"></script>',
    },
    { path: '/page-report', body: '' },
    { path: '/editor-report', body: '' },
  );
  return { server, headers: header(hostSources, server.sameOrigin.url('/page-report')) };
}

/** The violated directives of the page or the editor, once `count` reports have arrived. */
async function reports(server: ScriptedServer, from: 'page' | 'editor', count: number): Promise<string[]> {
  const seen = await server.requests({ path: `/${from}-report`, count });
  return seen.map(({ body }) => {
    const { 'csp-report': report } = JSON.parse(body) as { 'csp-report': Record<string, string> };
    return (report['effective-directive'] ?? report['violated-directive'] ?? '').split(' ')[0] ?? '';
  });
}

const addFeatures = (page: Document, attributes: Record<string, string>) => {
  const element = page.createElement('plugin-features');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  page.body.append(element);
  return element;
};

/** Violates both policies, and expects no other reports than these. */
async function expectOnlyNewViolations(server: ScriptedServer, element: PluginEditorElement): Promise<void> {
  frameOf(element).contentWindow?.postMessage('break', '*');
  element.ownerDocument.body.setAttribute('style', 'color: red');
  for (const from of ['page', 'editor'] as const) {
    expect(await reports(server, from, 1)).to.satisfy(
      ([first, ...more]: string[]) => !!first?.startsWith('style-src') && more.length === 0,
      from,
    );
  }
}

describe('a content security policy', () => {
  before(async function () {
    // The first request builds them, which takes a while.
    this.timeout(120_000);
    editorModule = await (await fetch('/built/editor.js')).text();
    for (const name of ['modules.js', 'plugin-editor.js', 'plugin-editor.iife.js']) {
      expect((await fetch(`/built/${name}`)).ok).to.equal(true);
    }
  });

  describe('the strictest policies', () => {
    for (const [name, delivery] of [
      ['modules from npm, bundled', 'url'],
      ['the module script', 'url'],
      ['the module script', 'message'],
      ['the classic script', 'message'],
    ] as const) {
      it(`are not violated by any state of <plugin-editor> with ${name} (${delivery} delivery)`, async () => {
        const { server, headers } = await strictServer([
          { path: '/token', times: 1, status: 401, delay: 'hang' },
        ]);
        const { contentDocument, contentWindow } = await openPage(server, {
          headers,
          module: null,
          body: SCRIPTS[name],
        });
        const element = create(
          server,
          { fn: null, builder: server.crossSite.url(), 'token-delivery': delivery },
          contentDocument,
        );
        contentDocument.body.append(element);
        await element.updateComplete;
        expect(element.state).to.equal('idle');
        element.fn = 'add-record';
        await untilChangeTo(element, 'loading');
        expect(part(element, 'status')).not.to.equal(null);
        await server.release('/token');
        await untilError(element);
        part(element, 'retry')?.click();
        await untilState(element, 'ready');
        // With both deliveries the editor was opened by message, and sent a request to its builder.
        await server.requests({ path: '/api/v1/draft', count: 1 });
        await element.renewToken();
        expect(contentWindow.violations).to.deep.equal([]);
        await expectOnlyNewViolations(server, element);
        expect(contentWindow.violations).to.have.length(1);
        await element.close();
      });
    }

    for (const [name, script] of Object.entries(SCRIPTS)) {
      it(`are not violated by any state of <plugin-features> with ${name}`, async () => {
        const { server, headers } = await strictServer([
          { path: FEATURES, times: 1, status: 404, delay: 'hang' },
        ]);
        const { contentDocument, contentWindow } = await openPage(server, {
          headers,
          module: null,
          body: script,
        });
        const element = create(server, { builder: server.crossSite.url() }, contentDocument);
        element.id = 'editor';
        contentDocument.body.append(element);
        const list = addFeatures(contentDocument, { builder: server.crossSite.url() });
        const failed = oneEvent(list, 'plugin-features-error');
        await server.release(FEATURES);
        await failed;
        await list.updateComplete;
        retryButton(list).click();
        await loaded(list);
        const group = await loaded(addFeatures(contentDocument, { for: 'editor' }));
        await untilState(element, 'ready');
        const readyAgain = untilChangeTo(element, 'ready');
        group.shadowRoot?.querySelector('input')?.click();
        expect(element.template).to.equal('javascript');
        await readyAgain;
        expect(contentWindow.violations).to.deep.equal([]);
        await expectOnlyNewViolations(server, element);
      });
    }
  });

  describe('a policy without', () => {
    const cases = [
      ...hostSources.map((one) => ({ one, from: 'page' as const })),
      ...editorSources.map((one) => ({ one, from: 'editor' as const })),
    ];
    for (const { one, from } of cases) {
      // Not every engine knows Trusted Types.
      if (one.directive === 'trusted-types' && !('trustedTypes' in window)) continue;
      it(`${one.directive} ${one.source} is violated on the ${from}`, async () => {
        const { server, headers } = await strictServer([], one);
        const { contentDocument } = await openPage(server, { headers, module: null, body: SCRIPT });
        contentDocument.body.append(
          create(server, { builder: server.crossSite.url(), 'token-delivery': 'message' }, contentDocument),
        );
        addFeatures(contentDocument, { builder: server.crossSite.url() });
        const [first = ''] = await reports(server, from, 1);
        expect(first).to.match(new RegExp(`^${one.directive}`));
      });
    }
  });
});
