import { expect } from '@open-wc/testing';
import { Access } from '../../../editor/src/workspace/access.ts';
import type { Actions } from '../../../editor/src/workspace/actions.ts';
import type { Dock } from '../../../editor/src/workspace/dock.ts';
import type { PluginDocument } from '../../../editor/src/workspace/plugin-document.ts';
import type { PluginSession } from '../../../editor/src/workspace/plugin-session.ts';
import { PluginTypes } from '../../../editor/src/workspace/plugin-types.ts';

describe('the types of a plugin', () => {
  it('have the text checked again where they changed since they were loaded before, and only then', async () => {
    let declarations = 'type Input = string';
    let rest = {};
    const session = {
      client: { getTypes: async () => ({ declarations, ...rest }), getPlugin: async () => ({}) },
      location: {},
      notices: { hide: () => {} },
      screen: { draw: () => {} },
      signal: new AbortController().signal,
    };
    let checks = 0;
    const actions = { on: () => {}, handleEdit: () => checks++, payload: { payload: '' } };
    const document = { on: () => {}, language: 'typescript' };
    const types = new PluginTypes(
      session as unknown as PluginSession,
      document as unknown as PluginDocument,
      new Access(['write'], false),
      {} as Dock,
      actions as unknown as Actions,
    );
    await types.load();
    rest = { input: {}, samples: [] };
    await types.load();
    expect(checks).to.equal(0);
    declarations = 'type Input = number';
    await types.load();
    expect(checks).to.equal(1);
    rest = { libraries: [{ name: 'prices' }] };
    await types.load();
    expect(checks).to.equal(2);
    rest = { connections: [{ url: 'https://api.example/' }] };
    await types.load();
    expect(checks).to.equal(3);
  });
});
