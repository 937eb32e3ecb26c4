import { toPointer } from '../../json-pointer.ts';
import type { Direction, JsonSchema } from '../../plugins/schemas.ts';
import { describeError, serveTool } from '../process/serve-tool.ts';
import { loadCheckMaker, UnusablePartError } from './check-code.ts';
import { linkSchema } from './link-schema.ts';
import type { LinkedSchema } from './link-schema.ts';
import { declarePythonTypes } from './python-types.ts';
import { InvalidSchemaError, pathOf, placeIn } from './read-schema.ts';
import type { Place } from './read-schema.ts';
import { jobLimit, longestPlace, longestPlaces, replyLimit } from './schema-protocol.ts';
import type { CompiledPair, SchemaJob, SchemaOutcome } from './schema-protocol.ts';
import { findWarnings } from './schema-warnings.ts';
import { declareTypes } from './typescript-types.ts';

/* The program of a process of the schema compiler: reads, links and compiles the schemas that it is sent. */

function compilerBy(makeCheck: (schema: JsonSchema) => string): (job: SchemaJob) => SchemaOutcome {
  const compilePair = (
    input: LinkedSchema | undefined,
    output: LinkedSchema | undefined,
    language: SchemaJob['language'],
  ): CompiledPair => ({
    declarations:
      language === 'python'
        ? declarePythonTypes(input, output)
        : declare('Input', input) + declare('Output', output),
    inputCheck: input && checkOf('input', input),
    outputCheck: output && checkOf('output', output),
  });
  const checkOf = (direction: Direction, { schema, places }: LinkedSchema): string => {
    try {
      return makeCheck(schema);
    } catch (error) {
      if (!(error instanceof UnusablePartError)) throw error;
      const { definition, path, message } = error;
      const place = placeIn(definition === undefined ? undefined : places[definition], ...path);
      throw new InvalidPartError(pointerIn(direction, place), message.slice(0, 1000));
    }
  };
  return (job) => {
    let room = longestPlaces;
    const patterns: { pointer: string; pattern: string }[] = [];
    const warnings: { pointer: string; message: string }[] = [];
    const link = (direction: Direction) => {
      const schema = job[direction];
      if (schema === undefined) return undefined;
      try {
        const linked = linkSchema(schema);
        for (const { place, pattern } of linked.patterns) {
          const pointer = room > 0 ? pointerIn(direction, place) : pointerIn(direction, undefined);
          room -= pointer.length;
          patterns.push({ pointer, pattern });
        }
        for (const { place, message } of findWarnings(direction, linked)) {
          warnings.push({ pointer: pointerIn(direction, place), message });
        }
        return linked;
      } catch (error) {
        const place = error instanceof InvalidSchemaError ? error.place : undefined;
        throw new InvalidPartError(pointerIn(direction, place), describeFailure(error));
      }
    };
    try {
      const [input, output] = [link('input'), link('output')];
      return { patterns, warnings, result: attempt(() => compilePair(input, output, job.language)) };
    } catch (error) {
      if (!(error instanceof InvalidPartError)) throw error;
      return { invalid: error.pointer, message: error.message };
    }
  };
}

/** A part of one of the two schemas is invalid. */
class InvalidPartError extends Error {
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

function attempt(compile: () => CompiledPair): CompiledPair {
  try {
    return compile();
  } catch (error) {
    if (error instanceof InvalidPartError) throw error;
    return { failed: describeFailure(error) };
  }
}

const pointerIn = (direction: Direction, place: Place) =>
  toPointer([direction, ...pathOf(place)], longestPlace);

/** The message for schemas that cannot be compiled. */
function describeFailure(error: unknown): string {
  if (error instanceof InvalidSchemaError) return error.message;
  if (error instanceof RangeError) return 'references and parts in one another go too deep';
  return describeError(error).slice(0, 1000);
}

/** Declares the type of a schema. Without a schema it is `any`, as the result of `JSON.parse` is. */
function declare(name: string, schema: LinkedSchema | undefined): string {
  return schema ? declareTypes(name, schema) : `/** Any JSON. */\ntype ${name} = any;\n`;
}

// Last, because it never returns, and what is declared below it would not be there.
await serveTool(async () => {
  const compile = compilerBy(loadCheckMaker());
  compile({ input: { type: 'object', properties: { a: { type: 'string' } } } });
  return (text) => {
    const reply = JSON.stringify(compile(JSON.parse(text) as SchemaJob));
    if (Buffer.byteLength(reply) <= replyLimit) return reply;
    const failed = `the types and checks that are made of it are longer than ${replyLimit} bytes`;
    return JSON.stringify({ patterns: [], warnings: [], result: { failed } } satisfies SchemaOutcome);
  };
}, jobLimit);
