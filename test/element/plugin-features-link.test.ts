import { expect, fixture, html, oneEvent } from '@open-wc/testing';

import '../../src/plugin-editor.ts';
import type { PluginEditorElement } from '../../src/plugin-editor.ts';
import '../../src/plugin-features.ts';
import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import { builder, builderThat, checked, loaded, radios, settle, texts } from './plugin-features-helpers.ts';
import { until } from '../support/until.ts';

/** A picker with other elements in its box, usually an editor. */
async function link(
  markup: string,
): Promise<{ box: HTMLElement; features: PluginFeaturesElement; editor: PluginEditorElement }> {
  const box = await fixture<HTMLElement>(`<div>${markup}</div>`);
  return {
    box,
    features: box.querySelector('plugin-features') as PluginFeaturesElement,
    editor: box.querySelector('plugin-editor') as PluginEditorElement,
  };
}

describe('<plugin-features for>', () => {
  it('uses the builder of the editor, and sets its template when a language is chosen', async () => {
    const server = await builder();
    const { features, editor } = await link(
      `<plugin-features for="e"></plugin-features><plugin-editor id="e" builder="${server.url()}"></plugin-editor>`,
    );
    await loaded(features);
    expect(radios(features)).to.have.length(3);
    let seen: string | null | undefined;
    features.addEventListener('input', () => (seen = editor.template));
    radios(features)[1]?.click();
    expect(seen).to.equal('typescript');
    expect(editor.getAttribute('template')).to.equal('typescript');
    await features.updateComplete;
    expect(checked(features)).to.deep.equal(['typescript']);
    await expect(features).to.be.accessible();
  });

  it('prefers a builder of its own', async () => {
    const [own, editors] = [await builder(), await builder()];
    const { features } = await link(
      `<plugin-features for="e" builder="${own.url()}"></plugin-features>
       <plugin-editor id="e" builder="${editors.url()}"></plugin-editor>`,
    );
    await loaded(features);
    expect(await editors.requests()).to.have.length(0);
  });

  it('is idle until there is an editor with a builder', async () => {
    const server = await builder();
    const { box, features } = await link(`<plugin-features for="e"></plugin-features>`);
    expect(features.state).to.equal('idle');
    const editor = document.createElement('plugin-editor');
    editor.id = 'e';
    box.append(editor);
    await settle();
    expect(features.state).to.equal('idle');
    editor.setAttribute('builder', server.url());
    await loaded(features);
  });

  it('follows a builder that is set as a property', async () => {
    const [one, two] = [await builder(), await builderThat({ json: { features: [], languages: [] } })];
    const { features, editor } = await link(
      `<plugin-features for="e"></plugin-features><plugin-editor id="e"></plugin-editor>`,
    );
    editor.builder = one.url();
    await loaded(features);
    editor.builder = two.url();
    await oneEvent(features, 'plugin-features-load');
    expect(radios(features)).to.have.length(0);
  });

  it('follows the id to another editor, and becomes idle without one', async () => {
    const [one, two] = [await builder(), await builderThat({ json: { features: ['x'], languages: [] } })];
    const { features, editor } = await link(
      `<plugin-features for="e"></plugin-features><plugin-editor id="e" builder="${one.url()}"></plugin-editor>
       <plugin-editor id="f" builder="${two.url()}"></plugin-editor>`,
    );
    await loaded(features);
    features.htmlFor = 'f';
    await oneEvent(features, 'plugin-features-load');
    expect(texts(features, 'feature')).to.deep.equal(['x']);
    features.htmlFor = 'g';
    await until('an idle element', () => features.state === 'idle');
    editor.id = 'g';
    await oneEvent(features, 'plugin-features-load');
    editor.remove();
    await until('an idle element', () => features.state === 'idle');
  });

  it('sets its choice on an editor that comes later, or instead of another', async () => {
    const server = await builder();
    const { box, features } = await link(
      `<plugin-features for="e" builder="${server.url()}"></plugin-features>`,
    );
    await loaded(features);
    radios(features)[2]?.click();
    for (let turn = 0; turn < 2; turn += 1) {
      const editor = document.createElement('plugin-editor');
      editor.id = 'e';
      box.querySelector('plugin-editor')?.remove();
      box.append(editor);
      await until('the template of the choice', () => editor.template === 'rust');
    }
    expect(await server.requests()).to.have.length(1);
  });

  it('shows the template of the editor while it has no value', async () => {
    const server = await builder();
    const { features, editor } = await link(
      `<plugin-features for="e"></plugin-features>
       <plugin-editor id="e" template="rust" builder="${server.url()}"></plugin-editor>`,
    );
    await loaded(features);
    expect(features.value).to.equal('rust');
    expect(checked(features)).to.deep.equal(['rust']);
    editor.template = 'javascript';
    await until('the chosen language', () => checked(features)[0] === 'javascript');
    expect(features.value).to.equal('javascript');
  });

  it('sets the template to its own value, which takes precedence', async () => {
    const server = await builder();
    const { features, editor } = await link(
      `<plugin-features for="e" value="typescript"></plugin-features>
       <plugin-editor id="e" template="rust" builder="${server.url()}"></plugin-editor>`,
    );
    await loaded(features);
    expect(checked(features)).to.deep.equal(['typescript']);
    expect(editor.template).to.equal('typescript');
    features.value = 'javascript';
    expect(editor.template).to.equal('javascript');
    await features.updateComplete;
    expect(checked(features)).to.deep.equal(['javascript']);
  });

  it('follows a template that the page sets after a choice', async () => {
    const server = await builder();
    const { features, editor } = await link(
      `<plugin-features for="e"></plugin-features><plugin-editor id="e" builder="${server.url()}"></plugin-editor>`,
    );
    await loaded(features);
    radios(features)[0]?.click();
    editor.setAttribute('template', 'rust');
    await until('the template of the page', () => checked(features)[0] === 'rust');
    // When a script sets it in the same task, the later value applies.
    editor.template = 'javascript';
    features.value = 'typescript';
    await settle();
    expect([editor.template, features.value]).to.deep.equal(['typescript', 'typescript']);
  });

  it('resets the template with its form', async () => {
    const server = await builder();
    const { box, features, editor } = await link(
      `<form><plugin-features for="e" value="rust"></plugin-features></form>
       <plugin-editor id="e" builder="${server.url()}"></plugin-editor>`,
    );
    await loaded(features);
    radios(features)[0]?.click();
    box.querySelector('form')?.reset();
    await features.updateComplete;
    expect([editor.template, features.value]).to.deep.equal(['rust', 'rust']);
  });

  it('finds an editor in its own tree only', async () => {
    const server = await builder();
    const { box } = await link(`<plugin-editor id="e" builder="${server.url()}"></plugin-editor><p></p>`);
    const root = box.querySelector('p')?.attachShadow({ mode: 'open' }) as ShadowRoot;
    root.innerHTML = `<plugin-features for="e"></plugin-features>`;
    const features = root.firstElementChild as PluginFeaturesElement;
    await settle();
    expect(features.state).to.equal('idle');
    const editor = document.createElement('plugin-editor');
    Object.assign(editor, { id: 'e', builder: server.url() });
    root.append(editor);
    await loaded(features);
  });

  it('works with an editor that is not defined yet', async () => {
    const server = await builder();
    const box = await fixture<HTMLElement>(
      html`<div>
        <plugin-features for="later"></plugin-features>
        <later-editor id="later" builder=${server.url()}></later-editor>
      </div>`,
    );
    const features = await loaded(box.querySelector('plugin-features') as PluginFeaturesElement);
    radios(features)[1]?.click();
    const { PluginEditorElement: Base } = await import('../../src/plugin-editor.ts');
    customElements.define('later-editor', class extends Base {});
    const editor = box.querySelector<PluginEditorElement>('later-editor');
    expect(editor?.template).to.equal('typescript');
    await settle();
    expect(checked(features)).to.deep.equal(['typescript']);
    expect(await server.requests()).to.have.length(1);
  });

  it('observes nothing after its removal', async () => {
    const watching = new Set<MutationObserver>();
    const Original = window.MutationObserver;
    window.MutationObserver = class extends Original {
      override observe(...request: Parameters<MutationObserver['observe']>): void {
        watching.add(this);
        super.observe(...request);
      }
      override disconnect(): void {
        watching.delete(this);
        super.disconnect();
      }
    };
    const server = await builder();
    const { features, editor } = await link(
      `<plugin-features for="e"></plugin-features><plugin-editor id="e" builder="${server.url()}"></plugin-editor>`,
    );
    await loaded(features);
    // The editor itself observes its lang attribute.
    expect(watching.size).to.equal(2);
    features.remove();
    await features.updateComplete;
    expect(watching.size).to.equal(1);
    editor.remove();
    await editor.updateComplete;
    expect(watching.size).to.equal(0);
    window.MutationObserver = Original;

    editor.template = 'rust';
    await settle();
    expect(features.value).to.equal('');
    expect(features.state).to.equal('idle');
    features.value = 'javascript';
    expect(editor.template).to.equal('rust');
  });
});
