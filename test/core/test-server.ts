import { afterEach } from 'node:test';

import type { Rule } from '../support/scripted-server-rules.ts';
import type { ScriptedServer } from '../support/scripted-server-api.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';

type Disposable = ScriptedServer & AsyncDisposable;

/** A server for each test of a suite. Its rules are for `path` unless they name another one. */
export function testServer(path = '*') {
  const fixture = {
    server: undefined as unknown as Disposable,
    start: async (...rules: Partial<Rule>[]): Promise<void> => {
      await fixture.server?.[Symbol.asyncDispose]();
      fixture.server = await startScriptedServer(...rules.map((rule) => ({ path, ...rule })));
    },
  };
  afterEach(async () => {
    await fixture.server?.[Symbol.asyncDispose]();
    fixture.server = undefined as unknown as Disposable;
  });
  return fixture;
}
