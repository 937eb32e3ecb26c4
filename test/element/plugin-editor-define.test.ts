import { expect } from '@open-wc/testing';

import { openPage } from './plugin-editor-page.ts';
import { PluginEditorElement } from '../../src/plugin-editor.ts';
import { SECRET, create, editorServer, flush, untilState, requestCounts } from './plugin-editor-setup.ts';

/** Imports a module in a page. */
function load(page: Document, address: string): Promise<void> {
  const script = page.createElement('script');
  script.type = 'module';
  script.src = address;
  return new Promise((resolve, reject) => {
    const { defaultView } = page;
    const fail = (event: ErrorEvent) => reject(new Error(event.message));
    defaultView?.addEventListener('error', fail, { once: true });
    script.addEventListener('load', () => {
      defaultView?.removeEventListener('error', fail);
      resolve();
    });
    script.addEventListener('error', () => reject(new Error(`${address} did not load`)));
    page.head.append(script);
  });
}

describe('defining <plugin-editor>', () => {
  it('uses the exported class', () => {
    expect(customElements.get('plugin-editor')).to.equal(PluginEditorElement);
    expect(document.createElement('plugin-editor')).to.be.instanceOf(PluginEditorElement);
  });

  it('does nothing the second time, even from another URL of the module', async () => {
    const server = await editorServer();
    const { contentDocument, contentWindow } = await openPage(server);
    const first = contentWindow.customElements.get('plugin-editor');
    await load(contentDocument, '/src/plugin-editor.ts?second');
    await load(contentDocument, '/src/index.ts?third');
    expect(contentWindow.customElements.get('plugin-editor')).to.equal(first);
    const element = create(server, {}, contentDocument);
    contentDocument.body.append(element);
    await untilState(element, 'ready');
  });

  it('keeps another class that already has the name', async () => {
    const server = await editorServer();
    const { contentDocument, contentWindow } = await openPage(server, { module: null });
    const Other = contentWindow.Function('return class extends HTMLElement {}')() as typeof HTMLElement;
    contentWindow.customElements.define('plugin-editor', Other);
    await load(contentDocument, '/src/plugin-editor.ts');
    expect(contentWindow.customElements.get('plugin-editor')).to.equal(Other);
  });

  it('does not happen in elements.ts', async () => {
    const server = await editorServer();
    const { contentDocument, contentWindow } = await openPage(server, { module: null });
    await load(contentDocument, '/src/elements.ts');
    expect(contentWindow.customElements.get('plugin-editor')).to.equal(undefined);
  });

  it('works for subclasses under a name of their own', async () => {
    class Own extends PluginEditorElement {}
    customElements.define('own-editor', Own);
    const server = await editorServer();
    const element = document.createElement('own-editor') as Own;
    Object.assign(element, {
      editorUrl: server.url('/editor'),
      builder: server.url(),
      ident: 'com.example.a',
      fn: 'f',
      fetchToken: async () => SECRET,
    });
    document.body.append(element);
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1 });
    element.remove();
  });

  it('upgrades existing elements with the attributes and properties that they have', async () => {
    const server = await editorServer();
    const { contentDocument } = await openPage(server, {
      module: null,
      body: `<plugin-editor builder="${server.url()}" ident="com.example.a" fn="of-attribute"></plugin-editor>`,
    });
    const element = contentDocument.querySelector('plugin-editor') as PluginEditorElement;
    Object.assign(element, {
      editorUrl: server.url('/editor'),
      fn: 'of-property',
      fetchToken: async () => 'of-function',
      strings: { loading: 'Lädt' },
    });
    await load(contentDocument, '/src/plugin-editor.ts');
    await untilState(element, 'ready');
    await flush(element, server);
    expect(await requestCounts(server))
      .to.include({ '/editor': 1 })
      .and.not.have.property('/token');
    const [request] = await server.requests({ path: '/editor' });
    expect(request?.query).to.include({ token: 'of-function', fn: 'of-property', ident: 'com.example.a' });
    expect(element.strings).to.deep.equal({ loading: 'Lädt' });
  });

  it('works for parsed markup, and for clones', async () => {
    const server = await editorServer();
    const html = create(server).outerHTML;
    const page = await openPage(server, { body: html });
    const element = page.contentDocument.querySelector('plugin-editor') as PluginEditorElement;
    await untilState(element, 'ready');
    const copy = element.cloneNode(true) as PluginEditorElement;
    page.contentDocument.body.append(copy);
    await untilState(copy, 'ready');
    expect(await requestCounts(server)).to.include({ '/token': 2, '/editor': 2 });
  });
});
