import { expect } from '@open-wc/testing';

import { until } from '../support/until.ts';
import { LIMITS, MAX_VALUES } from '../../src/core/messages.ts';
import { untilError, frameOf, mount, part } from './plugin-editor-setup.ts';
import { type Opened, openEditor } from './protocol-opened.ts';
import {
  evaluateIn,
  flushMessages,
  recordMessages,
  named,
  recordEvents,
  protocolServer,
} from './protocol-setup.ts';

// Long texts are created in the frame, because the page must stay responsive.

/** Makes the editor run code in which `post(message)` sends a message in its present session. */
function attack({ element, received }: Pick<Opened, 'element' | 'received'>, code: string): void {
  const session = JSON.stringify(received.session());
  evaluateIn(
    frameOf(element).contentWindow,
    `{ const post = (message) => send({ session: ${session}, ...message }); ${code} }`,
  );
}

/** The only event that the code causes. */
async function eventCausedBy(all: Opened, name: string, code: string): Promise<Record<string, unknown>> {
  all.seen.length = 0;
  attack(all, code);
  await flushMessages(all.element);
  expect(all.seen.map(({ type }) => type)).to.deep.equal([`plugin-editor-${name}`]);
  return all.seen[0] as Event & Record<string, unknown>;
}

// Without the limits, these texts keep a page busy for minutes, which is longer than a test may take.

describe('an error of 500,000 characters', () => {
  const texts: [of: string, code: string][] = [
    ['one word', `'x'.repeat(500_000)`],
    ['words', `'word '.repeat(100_000)`],
    ['lines', `'\\n'.repeat(500_000)`],
    ['marks above one letter', `'x' + '\\u0301'.repeat(500_000)`],
    ['surrogate pairs', `'\\u{1f600}'.repeat(250_000)`],
    ['changes of direction', `'\\u202e\\u05d0x'.repeat(170_000)`],
  ];
  for (const [of, code] of texts) {
    it(`is shortened to 500 and keeps the page responsive when it is ${of}`, async () => {
      const all = await openEditor();
      attack(all, `post({ type: 'error', message: ${code} })`);
      const { code: why, message } = await untilError(all.element);
      expect(why).to.equal('editor');
      const [text = ''] = /(?<=: ).*$/s.exec(message) ?? [];
      expect(text.length).to.be.within(LIMITS.error.message - 1, LIMITS.error.message);
      expect(text.endsWith('…')).to.equal(true);
      const view = part(all.element, 'error') as HTMLElement;
      expect(view.textContent).to.contain(text);
      expect(view.getBoundingClientRect().height).to.be.above(0);
    });
  }
});

describe('a long text from an editor', () => {
  const texts: [field: string, event: string, message: string][] = [
    ['outputLog', 'build', `type: 'build', succeeded: false, outputLog: long`],
    ['name', 'test', `type: 'test', name: long`],
    ['result', 'test', `type: 'test', result: long`],
    ['error', 'test', `type: 'test', error: long`],
    ['version', 'deploy', `type: 'deploy', version: long`],
  ];
  it('is shortened to the documented length in each field', async () => {
    const all = await openEditor();
    for (const [field, event, message] of texts) {
      const found = await eventCausedBy(
        all,
        event,
        `const long = 'x'.repeat(20_000_000); post({ ${message} })`,
      );
      const limit = (LIMITS as Record<string, Record<string, number>>)[event]?.[field] as number;
      expect(found[field], field).to.equal('x'.repeat(limit - 1) + '…');
    }
  });

  it('keeps the page responsive when it comes again and again', async () => {
    const all = await openEditor();
    all.seen.length = 0;
    attack(
      all,
      `const outputLog = 'x'.repeat(4_000_000);
       for (let i = 0; i < 20; i++) post({ type: 'build', succeeded: true, outputLog });`,
    );
    await flushMessages(all.element);
    expect(named(all.seen, 'build').map(({ outputLog }) => (outputLog as string).length)).to.deep.equal(
      Array(20).fill(LIMITS.build.outputLog),
    );
  });
});

describe('the error of a test run', () => {
  const structures: [what: string, code: string][] = [
    [
      'lists in lists, a thousand deep',
      `(() => { let list = []; for (let i = 0; i < 1000; i++) list = [list]; return list; })()`,
    ],
    [
      'what holds itself',
      `(() => { const self = { a: [1] }; self.self = self; self.a.push(self, self); return self; })()`,
    ],
    ['maps, sets and dates', `[new Map([[1, 2]]), new Set([1]), new Date(), /x/, new Error('x')]`],
  ];
  it('is limited in size and becomes plain JSON whatever it is', async () => {
    const all = await openEditor();
    for (const [what, code] of structures) {
      const { error } = await eventCausedBy(all, 'test', `post({ type: 'test', error: ${code} })`);
      const json = JSON.stringify(error);
      expect(JSON.parse(json), what).to.deep.equal(error);
      // Quotes, commas and the like are not counted.
      expect(json.length, what).to.be.below(LIMITS.test.error + 30 * MAX_VALUES);
      expect(json.match(/[,:[{]/g)?.length ?? 0, what).to.be.at.most(3 * MAX_VALUES);
    }
  });
});

describe('a token that the editor was given', () => {
  const places: [where: string, event: string, message: string][] = [
    [
      'the name of a field deep in',
      'test',
      `type: 'test', error: [{ a: { ['x' + token]: [{ [token]: token }] } }]`,
    ],
    ['a text', 'test', `type: 'test', name: token, result: token, error: token`],
    [
      'a log that is cut in the midst of it',
      'build',
      `type: 'build', succeeded: true, outputLog: 'x'.repeat(${LIMITS.build.outputLog} - 7) + token + '!'`,
    ],
  ];
  it('is redacted in events', async () => {
    const all = await openEditor();
    await all.element.renewToken();
    const { token } = await all.received.until('token');
    for (const [place, event, message] of places) {
      for (const known of ['token-1', token as string]) {
        const found = await eventCausedBy(all, event, `const token = '${known}'; post({ ${message} })`);
        expect(JSON.stringify(found), place).to.contain('…').and.not.to.contain('token-');
      }
    }
  });

  for (const [place, code] of [
    ['in its midst', `'Cannot open https://editor.test/?token=' + token + '&fn=x'`],
    ['at its cut', `'x'.repeat(${LIMITS.error.message} - 7) + token + '!'`],
  ]) {
    it(`is redacted in the message and the view of an error, ${place}`, async () => {
      const all = await openEditor();
      attack(all, `const token = 'token-1'; post({ type: 'error', message: ${code} })`);
      const { message } = await untilError(all.element);
      expect(message).to.contain('…').and.not.to.contain('token-');
      expect(part(all.element, 'error')?.textContent).to.contain('…').and.not.to.contain('token-');
    });
  }

  it('is redacted in events with url delivery, too', async () => {
    const server = await protocolServer();
    const received = recordMessages();
    const element = mount(server);
    const seen = recordEvents(element);
    await received.until('open');
    // The page's load makes it ready first; the event that the editor causes may come after that.
    await until('the editor has said that it is ready', () => seen.some((one) => one['confirmed'] === true));
    const error = await eventCausedBy(
      { server, received, element, seen },
      'test',
      `post({ type: 'test', error: { 'token-1': ['token-1'] } })`,
    );
    expect(error['error']).to.deep.equal({ '…': ['…'] });
  });
});
