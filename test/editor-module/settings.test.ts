import { expect } from '@open-wc/testing';

import { frameOf, untilState, rejection } from '../element/plugin-editor-setup.ts';
import { evaluateIn, flushMessages, recordMessages, mountWithMessages } from '../element/protocol-setup.ts';
import { moduleServer } from './module-page.ts';

const OPTIONS = `capabilities: ['open'],
  onSave: () => globalThis.save(),
  onConfigure: (changes) => report({ type: 'onConfigure', changes }),`;

async function openConnected(changes = {}, options = OPTIONS) {
  const server = await moduleServer(options);
  const received = recordMessages();
  const element = mountWithMessages(server, changes);
  await untilState(element, 'ready');
  const run = (code: string) => evaluateIn(frameOf(element).contentWindow, code);
  return { server, received, element, run };
}

describe('connectLauncher() with onSave and onConfigure', () => {
  it('passes every field of open to onOpen', async () => {
    const initialSource = { contents: 'c', lang: 'typescript', tests: [{ name: 'n' }] };
    const { received } = await openConnected({
      initialSource,
      locale: 'de-CH',
      'read-only': '',
      style:
        'color-scheme: dark; --plugin-editor-accent: red; --plugin-editor-background: black; --plugin-editor-color: white; --plugin-editor-border: 1px solid gray; --plugin-editor-radius: 4px; --plugin-editor-font: 1rem "Fira Sans", serif',
    });
    const { open } = (await received.until('onOpen')) as never as { open: object };
    expect(open).to.deep.include({
      initialSource,
      locale: 'de-CH',
      readOnly: true,
      appearance: {
        colorScheme: 'dark',
        accent: 'rgb(255, 0, 0)',
        background: 'rgb(0, 0, 0)',
        color: 'rgb(255, 255, 255)',
        border: 'rgb(128, 128, 128)',
        radius: '4px',
        font: '"Fira Sans", serif',
      },
    });
  });

  it('calls onConfigure with changes while the plugin is open', async () => {
    const { received, element } = await openConnected({ locale: 'de' });
    element.readOnly = true;
    element.locale = 'x_';
    expect(((await received.until('onConfigure')) as never as { changes: object }).changes).to.deep.equal({
      locale: null,
      readOnly: true,
    });
  });

  it('accepts of an appearance only what its grammar allows', async () => {
    const { received, element } = await openConnected();
    const frame = frameOf(element);
    const open = (await received.until('onOpen')) as never as { open: object };
    expect(open.open).to.have.property('appearance');
    const { session } = await new Promise<{ session: string }>((resolve) => {
      // The session has to be taken from a message of the launcher.
      addEventListener('message', ({ data }) => data?.type === 'dirty' && resolve(data));
      evaluateIn(frame.contentWindow, 'launcher.dirty(false)');
    });
    frame.contentWindow?.postMessage(
      {
        channel: 'plugin-editor',
        version: 1,
        type: 'configure',
        session,
        locale: 7,
        appearance: {
          colorScheme: 'sepia',
          accent: 'url(/x)',
          background: 'rgb(1, 2, 3)',
          color: 'var(--x)',
          font: 'a; b',
          radius: '1em',
          more: 1,
        },
      },
      '*',
    );
    const { changes } = (await received.until('onConfigure')) as never as { changes: object };
    expect(changes).to.deep.equal({ appearance: { background: 'rgb(1, 2, 3)' } });
  });

  it('saves when asked to, and the launcher waits for it', async () => {
    const { element, run } = await openConnected();
    run(`globalThis.save = async () => { launcher.dirty(false); launcher.save(); }; launcher.dirty(true)`);
    await flushMessages(element);
    await element.save();
    expect(element.dirty).to.equal(false);
  });

  it('reports why saving failed, when onSave rejects or throws', async () => {
    const { element, run } = await openConnected();
    for (const code of [
      `async () => { throw new Error('a conflict') }`,
      `() => { throw new Error('a conflict') }`,
    ]) {
      run(`globalThis.save = ${code}`);
      const error = await rejection(element.save());
      expect(error.code).to.equal('editor');
      expect(error.message).to.contain('a conflict');
    }
  });

  it('reports that nothing was saved when the capability was named without onSave', async () => {
    const { element } = await openConnected({}, `capabilities: ['save'],`);
    const error = await rejection(element.save());
    expect(error.code).to.equal('editor');
  });

  it('reports the details of the plugin', async () => {
    const { element, run } = await openConnected();
    run(`launcher.ready({ language: 'rust', exists: true, permissions: ['read'] })`);
    await flushMessages(element);
    expect(element.plugin).to.deep.include({ language: 'rust', exists: true, permissions: ['read'] });
  });

  it('greets with its capabilities', async () => {
    const greetings: unknown[] = [];
    const listener = ({ data }: MessageEvent) => data?.type === 'hello' && greetings.push(data.capabilities);
    addEventListener('message', listener);
    for (const options of [OPTIONS, `onSave: async () => {}, capabilities: ['save', 'x'],`, '']) {
      (await openConnected({}, options)).element.remove();
    }
    removeEventListener('message', listener);
    expect(greetings).to.deep.equal([['open', 'save', 'configure'], ['save', 'x'], undefined]);
  });
});
