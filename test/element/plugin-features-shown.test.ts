import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';

import '../../src/plugin-features.ts';
import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import { type PluginEditorElement, place, untilError, untilState } from './plugin-editor-setup.ts';
import { FEATURES, checked, loaded, radios, record } from './plugin-features-helpers.ts';
import {
  type ReceivedMessages,
  flushMessages,
  recordMessages,
  mountWithMessages,
  named,
  recordEvents,
  sendFromEditor,
  protocolServer,
} from './protocol-setup.ts';

interface Linked {
  features: PluginFeaturesElement;
  editor: PluginEditorElement;
  form: HTMLFormElement;
  received: ReceivedMessages;
  events: (Event & Record<string, unknown>)[];
}

/** A form with languages to choose from, above an editor that can open and shows a plugin. */
async function linked(template: string | null = null): Promise<Linked> {
  const server = await protocolServer({ capabilities: ['open'] }, { path: FEATURES, json: record });
  const received = recordMessages();
  const form = document.createElement('form');
  const features = document.createElement('plugin-features');
  Object.assign(features, { htmlFor: 'shown', name: 'language', required: true });
  const editor = mountWithMessages(server, { id: 'shown', template });
  const events = recordEvents(editor);
  form.append(features);
  place().append(form);
  await Promise.all([loaded(features), untilState(editor, 'ready')]);
  return { features, editor, form, received, events };
}

/** Makes the editor report more about its plugin. */
async function ready({ editor, received, features }: Linked, details: object): Promise<void> {
  sendFromEditor(editor, received, { type: 'ready', ...details });
  await flushMessages(editor);
  await features.updateComplete;
}

const submitted = ({ form }: Linked) => new FormData(form).get('language');

const [FIRST, SECOND] = record.languages.map(({ identifier }) => identifier) as [string, string];

describe('<plugin-features for> an editor that reports whether its plugin exists', () => {
  // First, because the warning comes once for a page, which this file has alone.
  it('ignores a change of template for an existing plugin, with one warning', async () => {
    const all = await linked(FIRST);
    await ready(all, { language: FIRST, exists: true });
    const { warn } = console;
    const lines: unknown[] = [];
    console.warn = (line: unknown) => lines.push(line);
    try {
      for (const template of [SECOND, FIRST, SECOND]) {
        all.editor.template = template;
        await all.editor.updateComplete;
      }
    } finally {
      console.warn = warn;
    }
    expect(lines).to.have.length(1);
    expect(all.editor.state).to.equal('ready');
    expect(all.received.of('open')).to.have.length(1);
    expect(all.features.value).to.equal(FIRST);
  });

  it('chooses the language of an existing plugin over any choice, and submits it', async () => {
    const all = await linked(SECOND);
    expect(all.features.value).to.equal(SECOND);
    await ready(all, { language: FIRST, exists: true });
    expect(all.features.value).to.equal(FIRST);
    expect(checked(all.features)).to.deep.equal([FIRST]);
    expect(submitted(all)).to.equal(FIRST);
    expect(all.features.checkValidity()).to.equal(true);
    expect(all.features.disabled).to.equal(false);
    // Nothing was asked of the editor.
    expect(all.editor.template).to.equal(SECOND);
    expect(all.received.of('open')).to.have.length(1);
  });

  const radio = ({ features }: Linked, language: string) =>
    radios(features).find(({ value }) => value === language) as HTMLInputElement;
  const ways: [string, (all: Linked) => unknown][] = [
    ['a click on a radio button', (all) => radio(all, SECOND).click()],
    ['a click on a label', (all) => radio(all, SECOND).labels?.[0]?.click()],
    [
      'an arrow key',
      async (all) => {
        radio(all, FIRST).focus();
        await sendKeys({ press: 'ArrowDown' });
      },
    ],
    ['its value', ({ features }) => void (features.value = SECOND)],
    ['the template of the editor', ({ editor }) => void (editor.template = SECOND)],
    ['a reset of its form', ({ form }) => form.reset()],
  ];
  for (const [way, choose] of ways) {
    it(`allows no other choice by ${way}, once the plugin was saved`, async () => {
      const all = await linked(FIRST);
      const { features } = all;
      features.defaultValue = SECOND;
      features.value = FIRST;
      await ready(all, { language: FIRST, exists: false });
      await ready(all, { language: FIRST, exists: true });
      expect(
        radios(features)
          .filter(({ disabled }) => !disabled)
          .map(({ value }) => value),
      ).to.deep.equal([FIRST]);
      const list = features.shadowRoot?.querySelector('[role=radiogroup]');
      expect(list?.getAttribute('aria-readonly')).to.equal('true');
      await choose(all);
      await all.editor.updateComplete;
      await features.updateComplete;
      expect([features.value, checked(features), submitted(all)]).to.deep.equal([FIRST, [FIRST], FIRST]);
      expect(all.received.of('open')).to.have.length(1);
    });
  }

  it('moves the choice back where it is made before the languages are drawn as locked', async () => {
    const all = await linked(FIRST);
    await ready(all, { language: FIRST, exists: false });
    // The element listens on the document, too, and so knows about the lock before.
    document.addEventListener('plugin-editor-plugin', () => radio(all, SECOND).click(), { once: true });
    await ready(all, { language: FIRST, exists: true });
    expect([all.features.value, checked(all.features)]).to.deep.equal([FIRST, [FIRST]]);
    expect(all.editor.template).to.equal(FIRST);
  });

  const leave: [string, (all: Linked) => Promise<unknown>][] = [
    ['went back', async ({ editor }) => void (editor.fn = null)],
    ['closed', ({ editor }) => editor.close()],
    [
      'failed to open another plugin',
      async ({ editor, received }) => {
        editor.fn = 'another';
        await received.until('open', 2);
        sendFromEditor(editor, received, { type: 'error', message: 'gone' });
        await untilError(editor);
      },
    ],
  ];
  for (const [how, act] of leave) {
    it(`shows the language that opens next after the page ${how}`, async () => {
      const all = await linked(SECOND);
      const { editor, features } = all;
      await ready(all, { language: FIRST, exists: true });
      await act(all);
      await editor.updateComplete;
      await features.updateComplete;
      expect([features.value, checked(features)]).to.deep.equal([SECOND, [SECOND]]);
      expect(radios(features).some(({ disabled }) => disabled)).to.equal(false);
      editor.fn = 'new';
      await editor.reload();
      expect(all.received.of('open').at(-1)).to.include({ fn: 'new', template: SECOND });
    });
  }

  it('keeps the language while the same plugin reloads, and is free for another that is new', async () => {
    const all = await linked();
    await ready(all, { language: FIRST, exists: true });
    const seen: string[] = [];
    all.editor.addEventListener('plugin-editor-state', () => seen.push(all.features.value));
    all.editor.fn = 'another';
    await all.editor.updateComplete;
    expect(all.features.value).to.equal(FIRST);
    await untilState(all.editor, 'ready');
    expect(new Set(seen)).to.deep.equal(new Set([FIRST]));
    await ready(all, { exists: false });
    expect(all.features.value).to.equal('');
    expect(radios(all.features).every(({ disabled }) => !disabled)).to.equal(true);
    all.features.value = SECOND;
    expect(all.features.value).to.equal(SECOND);
    expect(all.editor.template).to.equal(SECOND);
  });

  it('shows the edited language while unsaved work delays a choice', async () => {
    const all = await linked(FIRST);
    await ready(all, { language: FIRST, exists: false });
    sendFromEditor(all.editor, all.received, { type: 'dirty', dirty: true });
    await flushMessages(all.editor);
    all.editor.addEventListener('plugin-editor-discard', (event) => event.preventDefault());
    radio(all, SECOND).click();
    await all.editor.updateComplete;
    await all.features.updateComplete;
    expect(named(all.events, 'discard')).to.have.length(1);
    expect([all.features.value, checked(all.features)]).to.deep.equal([FIRST, [FIRST]]);
    expect(submitted(all)).to.equal(FIRST);
    // Once saved, the change is made.
    sendFromEditor(all.editor, all.received, { type: 'dirty', dirty: false });
    expect(await all.received.until('open', 2)).to.include({ template: SECOND });
    await ready(all, { language: SECOND, exists: false });
    expect(all.features.value).to.equal(SECOND);
  });

  it('stays free when the editor does not report it', async () => {
    const all = await linked(FIRST);
    await ready(all, { language: SECOND });
    expect(all.features.value).to.equal(FIRST);
    expect(radios(all.features).every(({ disabled }) => !disabled)).to.equal(true);
    radios(all.features)[1]?.click();
    await all.features.updateComplete;
    expect(all.editor.template).to.equal(SECOND);
  });
});
