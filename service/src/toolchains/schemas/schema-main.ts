import { describeError, serveTool } from '../process/serve-tool.ts';
import { loadCheckMaker } from './check-code.ts';
import type { LinkedSchema } from './link-schema.ts';
import { jobLimit } from './schema-protocol.ts';
import type { SchemaOutcome, SchemaJob } from './schema-protocol.ts';
import { declareTypes } from './typescript-types.ts';

/* The program of a process of the schema compiler: compiles the schemas that it is sent. */

await serveTool(async () => {
  const makeCheck = loadCheckMaker();
  const compile = ({ input, output }: SchemaJob): SchemaOutcome => ({
    declarations: declare('Input', input) + declare('Output', output),
    inputCheck: input && makeCheck(input.schema),
    outputCheck: output && makeCheck(output.schema),
  });
  compile({ input: { schema: { type: 'object', properties: { a: { type: 'string' } } }, names: [] } });
  return (text) => {
    let outcome: SchemaOutcome;
    try {
      outcome = compile(JSON.parse(text) as SchemaJob);
    } catch (error) {
      outcome = { failed: describeFailure(error).slice(0, 1000) };
    }
    return JSON.stringify(outcome);
  };
}, jobLimit);

/** The message for schemas that cannot be compiled. */
const describeFailure = (error: unknown) =>
  error instanceof RangeError ? 'references and parts in one another go too deep' : describeError(error);

/** Declares the type of a schema. Without a schema it is `any`, as the result of `JSON.parse` is. */
function declare(name: string, schema: LinkedSchema | undefined): string {
  return schema ? declareTypes(name, schema) : `/** Any JSON. */\ntype ${name} = any;\n`;
}
