import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { loadedProgram } from '../../plugins/program.ts';
import type { CompiledSchemas, Direction, JsonSchema } from '../../plugins/schemas.ts';
import type { NamespaceCheck, NamespaceFinding } from '../../sandbox/namespace-check.ts';
import type { NamespaceDetails, NamespaceKey } from '../../storage/tables/namespaces.ts';
import { linkSchema } from '../../toolchains/schemas/link-schema.ts';
import { InvalidSchemaError } from '../../toolchains/schemas/invalid-schema-error.ts';

/**
 * Checks the schemas and samples of a namespace, and compiles the schemas for builds and runs. Throws 422 where something does
 * not fit, a `BusyError` when too many jobs are waiting, and the signal's reason when that is aborted.
 *
 * References are resolved in this process, because their time and memory are bounded by the size of the schemas. Every step
 * that a schema could make slow is done in other processes, each within the time of one run: libraries work on the schemas in
 * a process of the schema compiler; regular expressions and samples are tried in the engine that runs plugins.
 */
export async function compileNamespace(
  context: ServiceContext,
  { environment }: NamespaceKey,
  details: NamespaceDetails,
  signal: AbortSignal,
): Promise<{ compiled: CompiledSchemas; declarations: string }> {
  const { input, output, samples = [] } = details;
  const share = { environment, tenant: '', token: '' };
  const linked = { input: link('input', input), output: link('output', output) };
  const patterns = directions.flatMap((direction) =>
    (linked[direction]?.patterns ?? []).map(({ path, pattern }) => ({ path: [direction, ...path], pattern })),
  );
  const check = async (work: NamespaceCheck, types?: CompiledSchemas) => {
    const program = loadedProgram({ kind: 'check', ...(types && { types }) });
    const run = { program, input: JSON.stringify(work), share, signal: () => signal };
    return context.sandbox.runAndMeasure(run);
  };

  if (patterns.length) {
    const { outcome } = await check({ patterns: patterns.map(({ pattern }) => pattern) });
    if ('error' in outcome) throw invalidRecord(patterns[0]?.path ?? [], outcome.error.message);
    const { pattern } = JSON.parse(outcome.result) as NamespaceFinding;
    const bad = pattern === undefined ? undefined : patterns[pattern];
    if (bad)
      throw invalidRecord(bad.path, 'must be a regular expression that the engine takes, with the flag "u"');
  }

  const made = await context.schemaCompiler.compile(
    {
      input: linked.input && { schema: linked.input.schema, names: linked.input.names },
      output: linked.output && { schema: linked.output.schema, names: linked.output.names },
    },
    share,
    signal,
  );
  if ('failed' in made) throw invalidRecord([input === undefined ? 'output' : 'input'], made.failed);
  const { declarations, inputCheck, outputCheck } = made;
  const compiled = {
    schemas: { ...(input !== undefined && { input }), ...(output !== undefined && { output }) },
    ...(inputCheck !== undefined && { inputCheck }),
    ...(outputCheck !== undefined && { outputCheck }),
  };

  // There is always a value to check, so that the engine is seen to load the compiled checks even without samples.
  const values = samples.flatMap((sample, i) =>
    directions
      .filter((direction) => sample[direction] !== undefined)
      .map((direction) => ({
        direction,
        json: JSON.stringify(sample[direction]),
        path: ['samples', String(i), direction],
      })),
  );
  const trial = { direction: 'input' as const, json: 'null', path: ['input'] };
  const work = { values: [...values, trial].map(({ direction, json }) => ({ direction, json })) };
  const { outcome } = await check(work, compiled);
  if ('error' in outcome) {
    throw invalidRecord(
      values.length ? ['samples'] : trial.path,
      `could not be checked: ${outcome.error.message}`,
    );
  }
  const { value, fault } = JSON.parse(outcome.result) as NamespaceFinding;
  const misfit = value === undefined ? undefined : values[value];
  if (misfit && fault) throw invalidRecord([...misfit.path, ...keysOf(fault.path)], fault.message);
  return { compiled, declarations };
}

const directions: readonly Direction[] = ['input', 'output'];

function link(direction: Direction, schema: JsonSchema | undefined) {
  if (schema === undefined) return undefined;
  try {
    return linkSchema(schema);
  } catch (error) {
    if (error instanceof InvalidSchemaError) throw invalidRecord([direction, ...error.path], error.message);
    throw error;
  }
}

/** The keys of a JSON Pointer. */
const keysOf = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

/** How many characters of a pointer messages quote. */
const longestPlace = 200;

/** The error for a record with an invalid part. `path`: the keys that lead from the record to that part. */
export const invalidRecord = (path: readonly string[], message: string) => {
  const pointer = pointerTo(path);
  const place = pointer.length > longestPlace ? `${pointer.slice(0, longestPlace)}…` : pointer;
  return new ServiceError(422, 'invalid-body', `${place}: ${message}.`.replace(/\.\.$/, '.'), {
    path: pointer,
  });
};

/** The longest pointer in a response, in UTF-16 code units. Where it would be longer, it points to a parent of the part. */
const longestPointer = 500;

function pointerTo(path: readonly string[]): string {
  let pointer = '';
  for (const key of path) {
    const next = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (next.length > longestPointer) break;
    pointer = next;
  }
  return pointer;
}
