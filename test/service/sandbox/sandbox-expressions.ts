import assert from 'node:assert/strict';
import { runInThisContext } from 'node:vm';
import { Logs } from '../../../service/src/sandbox/logs.ts';
import { ScriptRunner } from '../../../service/src/sandbox/script/script-runner.ts';

/** What an expression comes to: its value as JSON, or the name of the error that it throws. */
const evaluate = `async (expressions) => {
  const values = [];
  for (const expression of expressions) {
    try {
      values.push(JSON.stringify(await (0, eval)('(' + expression + ')')) ?? 'undefined');
    } catch (error) {
      values.push(error.name);
    }
  }
  return values;
}`;

const code = `const evaluate = ${evaluate};
export const run = async (input) => JSON.stringify(await evaluate(JSON.parse(input)));`;

const runner = new ScriptRunner();

/** Evaluates expressions in a plugin. */
export async function inSandbox(expressions: readonly string[]): Promise<string[]> {
  const program = { kind: 'script', code, file: 'plugin.js' } as const;
  const job = { hash: code, program, deadline: Infinity, logs: new Logs() };
  const outcome = await runner.run(job, JSON.stringify(expressions));
  assert.ok('result' in outcome, JSON.stringify(outcome));
  return JSON.parse(outcome.result) as string[];
}

/** Evaluates expressions in Node. */
const inNode = runInThisContext(`(${evaluate})`) as (expressions: readonly string[]) => Promise<string[]>;

/** Asserts that expressions come to the same in a plugin as in Node. */
export async function assertSameAsNode(expressions: readonly string[]): Promise<void> {
  const [found, expected] = [await inSandbox(expressions), await inNode(expressions)];
  const different = expressions.flatMap((expression, at) =>
    found[at] === expected[at] ? [] : [`${expression}: ${found[at]}, and in Node ${expected[at]}`],
  );
  assert.deepEqual(different, []);
}
