import type { ScopeCommands } from './scripted-server-scope.ts';

/** The name of the test runner's server command that carries a {@link Command}. */
export const COMMAND_NAME = 'scripted-server';

/** The response to a command that waits for something which has not happened yet. The page sends the command again. */
export const PENDING = { pending: true } as const;

/** A call from a browser test to its scope. `create` makes the scope, and answers with the port of the second origin. */
export interface Command {
  id: string;
  /** Identifies the call, which is made once however often its command is sent. */
  call: string;
  name: 'create' | keyof ScopeCommands;
  args: unknown[];
}
