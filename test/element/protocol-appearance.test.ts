import { expect } from '@open-wc/testing';

import { flush, requestCounts } from './plugin-editor-setup.ts';
import { openEditor } from './protocol-opened.ts';
import { flushMessages } from './protocol-setup.ts';
import { until } from '../support/until.ts';

const CAN = { capabilities: ['open', 'configure'] };
const openConfigurable = (changes = {}) => openEditor(changes, CAN);

describe('appearance', () => {
  const table: [name: string, style: string, appearance: object][] = [
    ['nothing that is unset', '', { colorScheme: 'light' }],
    ['the colour scheme', 'color-scheme: dark', { colorScheme: 'dark' }],
    [
      'colours of any kind as rgb',
      '--plugin-editor-accent: hsl(120 100% 50%); --plugin-editor-background: color(srgb 1 0.5 0); --plugin-editor-color: var(--mine); --mine: #123',
      { accent: 'rgb(0, 255, 0)', background: 'rgb(255, 128, 0)', color: 'rgb(17, 34, 51)' },
    ],
    [
      'colours that depend on the scheme, resolved',
      'color-scheme: dark; --plugin-editor-background: light-dark(white, rgb(1 2 3))',
      { colorScheme: 'dark', background: 'rgb(1, 2, 3)' },
    ],
    [
      'the colour of a border that is there',
      '--plugin-editor-border: 2px solid oklch(1 0 0)',
      { border: 'rgb(255, 255, 255)' },
    ],
    ['no border without a width', '--plugin-editor-border: 0 solid red', {}],
    [
      'the families of a font',
      '--plugin-editor-font: italic 12px/2 "Fira Sans", Georgia, serif',
      { font: '"Fira Sans", Georgia, serif' },
    ],
    ['a radius in px, also of 0', '--plugin-editor-radius: calc(2px + 3px)', { radius: '5px' }],
    ['a radius of nothing', '--plugin-editor-radius: 0', { radius: '0px' }],
    [
      'nothing translucent or that does not resolve',
      '--plugin-editor-accent: auto; --plugin-editor-background: rgb(0 0 0 / 50%); --plugin-editor-color: 12px; --plugin-editor-radius: 10%; --plugin-editor-font: nonsense; --plugin-editor-border: x',
      {},
    ],
    [
      'no address and no image',
      '--plugin-editor-background: url(data:,), red; --plugin-editor-accent: linear-gradient(red, blue); --plugin-editor-font: 1rem "a;b{}"',
      {},
    ],
  ];
  it('is what the page says, as far as the editor may have it', async () => {
    const style = '--plugin-editor-accent: red';
    const { element, received } = await openConfigurable({ style });
    let shown = received.of('open')[0]?.['appearance'];
    expect(shown).to.deep.equal({ colorScheme: 'light', accent: 'rgb(255, 0, 0)' });
    for (const [name, css, appearance] of table) {
      element.setAttribute('style', css);
      element.refreshAppearance();
      await flushMessages(element);
      // It is sent where it differs.
      shown = received.of('configure').at(-1)?.['appearance'];
      expect(shown, name).to.deep.equal({ colorScheme: 'light', ...appearance });
    }
  });

  it('is sent by configure as a whole when it changes, without a request or restart', async () => {
    const all = await openConfigurable({ style: '--plugin-editor-accent: red' });
    const { element } = all;
    const changes: [property: string, value: string, appearance: object][] = [
      ['--plugin-editor-accent', 'blue', { colorScheme: 'light', accent: 'rgb(0, 0, 255)' }],
      ['color-scheme', 'dark', { colorScheme: 'dark', accent: 'rgb(0, 0, 255)' }],
      [
        '--plugin-editor-font',
        '1rem serif',
        { colorScheme: 'dark', accent: 'rgb(0, 0, 255)', font: 'serif' },
      ],
      ['--plugin-editor-accent', '', { colorScheme: 'dark', font: 'serif' }],
    ];
    for (const [index, [property, value, appearance]] of changes.entries()) {
      element.style.setProperty(property, value);
      const message = await all.received.until('configure', index + 1);
      expect(message['appearance']).to.deep.equal(appearance);
    }
    expect(all.received.of('open')).to.have.length(1);
    await flush(element, all.server);
    expect(await requestCounts(all.server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('is sent when the element is displayed again after a change', async () => {
    const all = await openConfigurable();
    const { element } = all;
    element.style.display = 'none';
    await new Promise(requestAnimationFrame);
    element.style.setProperty('--plugin-editor-accent', 'blue');
    await new Promise(requestAnimationFrame);
    element.style.display = '';
    // WebKit does not resolve the colours of an element that is not displayed, so hiding it causes another message.
    const accent = () => Object(all.received.of('configure').at(-1)?.['appearance']).accent as unknown;
    await until('the look of the page', () => accent() === 'rgb(0, 0, 255)');
    expect(all.received.of('open')).to.have.length(1);
  });

  it('is sent at once by refreshAppearance(), only if it differs', async () => {
    const all = await openConfigurable();
    all.element.style.setProperty('--plugin-editor-accent', 'rgb(9 9 9)');
    all.element.refreshAppearance();
    all.element.refreshAppearance();
    await flushMessages(all.element);
    expect(all.received.of('configure')[0]?.['appearance']).to.include({ accent: 'rgb(9, 9, 9)' });
    expect(all.received.of('configure')).to.have.length(1);
    all.element.remove();
    all.element.refreshAppearance();
  });
});
