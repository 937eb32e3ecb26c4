import { loadedProgram } from '../../service/src/plugins/program.ts';
import type { Program, StoredProgram } from '../../service/src/plugins/program.ts';
import type { JsonSchema, Schemas } from '../../service/src/plugins/schemas.ts';
import { loadCheckMaker } from '../../service/src/toolchains/schemas/check-code.ts';
import { linkSchema } from '../../service/src/toolchains/schemas/link-schema.ts';

/** A program with the types of a namespace, as a build in it makes one. */
export function typedProgram(program: Program, schemas: Required<Schemas>): StoredProgram {
  const makeCheck = loadCheckMaker();
  const checkOf = (schema: JsonSchema) => makeCheck(linkSchema(schema).schema);
  const { input, output } = schemas;
  return loadedProgram({
    ...program,
    types: { schemas, inputCheck: checkOf(input), outputCheck: checkOf(output) },
  });
}
