import { expect } from '@open-wc/testing';
import { HttpError, SchemaError } from 'plugin-editor/client.js';
import { Access } from '../../../editor/src/workspace/access.ts';
import type { Actions } from '../../../editor/src/workspace/actions.ts';
import type { Dock } from '../../../editor/src/workspace/dock.ts';
import type { PluginDocument } from '../../../editor/src/workspace/plugin-document.ts';
import type { PluginSession } from '../../../editor/src/workspace/plugin-session.ts';
import { PluginTypes } from '../../../editor/src/workspace/plugin-types.ts';

describe('the types of a plugin', () => {
  const setTimeout = window.setTimeout.bind(window);
  let waits: number[];
  // Nothing waits here. The module of the panel, which only Vite can bundle, is tried again at each load.
  beforeEach(() => {
    waits = [];
    window.setTimeout = ((handler: () => void, delay = 0) => {
      waits.push(delay);
      return setTimeout(handler);
    }) as typeof window.setTimeout;
  });
  afterEach(() => {
    window.setTimeout = setTimeout;
  });

  it('have the text checked and built again where they changed since they were loaded before, and only then', async () => {
    let declarations = 'type Input = string';
    let rest = {};
    const session = {
      client: { getTypes: async () => ({ declarations, ...rest }), getPlugin: async () => ({}) },
      location: {},
      notices: { hide: () => {} },
      screen: { draw: () => {} },
      signal: new AbortController().signal,
    };
    let changes = 0;
    const handleTypes = (isOther: boolean) => (changes += Number(isOther));
    const actions = { on: () => {}, handleTypes, payload: { payload: '' } };
    let changeLanguage = () => {};
    const document = {
      on: (_: string, listener: () => void) => (changeLanguage = listener),
      language: 'typescript',
    };
    const types = new PluginTypes(
      session as unknown as PluginSession,
      document as unknown as PluginDocument,
      new Access(['write'], false),
      {} as Dock,
      actions as unknown as Actions,
    );
    await types.load();
    rest = { samples: [] };
    await types.load();
    expect(changes).to.equal(0);
    declarations = 'type Input = number';
    await types.load();
    expect(changes).to.equal(1);
    rest = { libraries: [{ name: 'prices' }] };
    await types.load();
    expect(changes).to.equal(2);
    rest = { connections: [{ url: 'https://api.example/' }] };
    await types.load();
    expect(changes).to.equal(3);
    // Declarations in TypeScript do not say all of a schema.
    rest = { ...rest, output: { minimum: 10 } };
    await types.load();
    expect(changes).to.equal(4);
    // Another language has no connections.
    document.language = 'python';
    changeLanguage();
    await types.load();
    expect(changes).to.equal(4);
  });

  for (const [error, isRetried] of [
    [new HttpError('The types', 503), true],
    [new SchemaError('The types', 'expected an object'), false],
  ] as const) {
    it(`are ${isRetried ? '' : 'not '}asked for again after: ${error.message}`, async () => {
      const abort = new AbortController();
      let requests = 0;
      const { promise, resolve } = Promise.withResolvers<void>();
      const session = {
        client: {
          getTypes: async () => {
            if (++requests === 1) throw error;
            return {};
          },
        },
        location: {},
        notices: { hide: () => {} },
        screen: { draw: () => {} },
        signal: abort.signal,
      };
      const types = new PluginTypes(
        session as unknown as PluginSession,
        { on: () => {}, language: 'typescript' } as unknown as PluginDocument,
        new Access(['write'], false),
        {} as Dock,
        { on: () => {}, handleTypes: () => resolve(), payload: { payload: '' } } as unknown as Actions,
      );
      try {
        await types.load();
        if (isRetried) await promise;
      } finally {
        abort.abort();
      }
      expect([requests, waits.filter((ms) => ms === 3000).length]).to.deep.equal(isRetried ? [2, 1] : [1, 0]);
    });
  }
});
