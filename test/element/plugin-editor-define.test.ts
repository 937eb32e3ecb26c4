import { expect } from '@open-wc/testing';

import { openPage } from './plugin-editor-page.ts';
import { PluginEditorElement } from '../../src/plugin-editor.ts';
import { SECRET, create, editorServer, flush, inState, requestCounts } from './plugin-editor-setup.ts';

/** Loads a module into a page, as a script of it would. */
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
  it('gives the class that is exported', () => {
    expect(customElements.get('plugin-editor')).to.equal(PluginEditorElement);
    expect(document.createElement('plugin-editor')).to.be.instanceOf(PluginEditorElement);
  });

  it('a second time, by the same module under another address, throws nothing', async () => {
    const server = await editorServer();
    const { contentDocument, contentWindow } = await openPage(server);
    const first = contentWindow.customElements.get('plugin-editor');
    await load(contentDocument, '/src/plugin-editor.ts?second');
    await load(contentDocument, '/src/index.ts?third');
    expect(contentWindow.customElements.get('plugin-editor')).to.equal(first);
    const element = create(server, {}, contentDocument);
    contentDocument.body.append(element);
    await inState(element, 'ready');
  });

  it('where another class has the name throws nothing and leaves that', async () => {
    const server = await editorServer();
    const { contentDocument, contentWindow } = await openPage(server, { module: null });
    const Other = contentWindow.Function('return class extends HTMLElement {}')() as typeof HTMLElement;
    contentWindow.customElements.define('plugin-editor', Other);
    await load(contentDocument, '/src/plugin-editor.ts');
    expect(contentWindow.customElements.get('plugin-editor')).to.equal(Other);
  });

  it('is not done by elements.ts', async () => {
    const server = await editorServer();
    const { contentDocument, contentWindow } = await openPage(server, { module: null });
    await load(contentDocument, '/src/elements.ts');
    expect(contentWindow.customElements.get('plugin-editor')).to.equal(undefined);
  });

  it('under a name of their own works for subclasses', async () => {
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
    await inState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1 });
    element.remove();
  });

  it('late upgrades what is there, with the attributes and properties that it was given', async () => {
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
    await inState(element, 'ready');
    await flush(element, server);
    expect(await requestCounts(server))
      .to.include({ '/editor': 1 })
      .and.not.have.property('/token');
    const [request] = await server.requests({ path: '/editor' });
    expect(request?.query).to.include({ token: 'of-function', fn: 'of-property', ident: 'com.example.a' });
    expect(element.strings).to.deep.equal({ loading: 'Lädt' });
  });

  it('works for markup that a parser reads, and for copies', async () => {
    const server = await editorServer();
    const html = create(server).outerHTML;
    const page = await openPage(server, { body: html });
    const element = page.contentDocument.querySelector('plugin-editor') as PluginEditorElement;
    await inState(element, 'ready');
    const copy = element.cloneNode(true) as PluginEditorElement;
    page.contentDocument.body.append(copy);
    await inState(copy, 'ready');
    expect(await requestCounts(server)).to.include({ '/token': 2, '/editor': 2 });
  });
});
