import type { ScopeCommands } from './scripted-server-scope.ts';

/** The name of the test runner's server command that carries a {@link Command}. */
export const COMMAND_NAME = 'scripted-server';

/** A call from a browser test to its scope. `create` makes the scope, and answers with the port of the second origin. */
export interface Command {
  id: string;
  name: 'create' | keyof ScopeCommands;
  args: unknown[];
}
