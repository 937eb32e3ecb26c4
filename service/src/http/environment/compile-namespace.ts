import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { describeIssues, longestPointer } from '../operations/issues.ts';
import { keysOfPointer, toPointer } from '../../json-pointer.ts';
import { loadedProgram } from '../../plugins/program.ts';
import type { CompiledSchemas, Direction, Schemas } from '../../plugins/schemas.ts';
import { decodeFinding } from '../../sandbox/decode-report.ts';
import type { NamespaceCheck, NamespaceFinding } from '../../sandbox/namespace-check.ts';
import type { RunError } from '../../sandbox/outcome.ts';
import type {
  NamespaceDetails,
  NamespaceKey,
  NamespaceTypes,
  Sample,
} from '../../storage/tables/namespaces.ts';
import { readNamespaceTypes, replaceCompiledSchemas } from '../../storage/tables/namespaces.ts';
import type { SchemaOutcome } from '../../toolchains/schemas/schema-protocol.ts';

/**
 * How long a check may take at least, in ms. A check that takes longer is refused for good, so a machine with much else to do must
 * not be what it fails for.
 */
const checkTime = 5000;

/**
 * Checks the schemas and samples of a namespace, and compiles the schemas for builds and runs. Throws 422 where something does
 * not fit, a `BusyError` when too many jobs are waiting, and the signal's reason when that is aborted.
 *
 * Every step that a schema could make slow is done in other processes within a limit of time: a process of the schema compiler
 * reads the schemas, resolves their references and compiles them; regular expressions and samples are tried in the engine that
 * runs plugins.
 */
export async function compileNamespace(
  context: ServiceContext,
  { environment }: NamespaceKey,
  details: NamespaceDetails,
  signal: AbortSignal,
): Promise<{ compiled: CompiledSchemas; declarations: string; warnings: readonly NamespaceWarning[] }> {
  const owner = { environment, tenant: '', token: '' };
  const check: CheckInSandbox = async (work, types) => {
    const program = loadedProgram({ kind: 'check', ...(types && { types }) });
    const { time, memory } = context.maxLimits.run;
    const limits = { time: Math.max(time, checkTime), memory };
    const run = { program, input: JSON.stringify(work), owner, limits, signal: () => signal };
    const outcome = await context.sandbox.run(run);
    return 'error' in outcome ? outcome : { finding: decodeFinding(outcome.result) };
  };
  const { input, output } = details;
  const outcome = await context.schemaCompiler.compile({ input, output }, owner, signal);
  if ('invalid' in outcome) throw invalidNamespace(keysOfPointer(outcome.invalid), outcome.message);
  await checkPatterns(check, outcome.patterns);
  const { result } = outcome;
  if ('failed' in result) throw invalidNamespace([input === undefined ? 'output' : 'input'], result.failed);
  const { declarations } = result;
  const compiled = withChecks(
    { ...(input !== undefined && { input }), ...(output !== undefined && { output }) },
    result,
  );
  await checkSamples(check, details.samples ?? [], compiled);
  const warnings = outcome.warnings.map(({ pointer, message }) => ({ path: pointer, message }));
  return { compiled, declarations, warnings };
}

const withChecks = (
  schemas: Schemas,
  {
    inputCheck,
    outputCheck,
  }: { readonly inputCheck?: string | undefined; readonly outputCheck?: string | undefined },
): CompiledSchemas => ({
  schemas,
  ...(inputCheck !== undefined && { inputCheck }),
  ...(outputCheck !== undefined && { outputCheck }),
  checksFormats: true,
});

/**
 * The types of a namespace for a build. Schemas that were compiled by a release that ignored formats are compiled again and
 * saved; where that fails, the build takes what there is.
 */
export async function typesForBuild(
  { schemaCompiler, storage }: ServiceContext,
  key: NamespaceKey,
  signal: AbortSignal,
): Promise<NamespaceTypes> {
  const types = await readNamespaceTypes(storage.db, key);
  const { compiled, schemasDigest } = types;
  if (!compiled || compiled.checksFormats) return types;
  const owner = { environment: key.environment, tenant: '', token: '' };
  const outcome = await schemaCompiler.compile(compiled.schemas, owner, signal);
  if ('invalid' in outcome || 'failed' in outcome.result) return types;
  const checked = withChecks(compiled.schemas, outcome.result);
  await replaceCompiledSchemas(storage.db, key, schemasDigest, checked);
  return { ...types, compiled: checked };
}

/** What is legal in a schema and probably wrong. */
export interface NamespaceWarning {
  /** A JSON Pointer into the details. */
  readonly path: string;
  readonly message: string;
}

/** Runs a check in the sandbox, with the schemas of `types`. */
type CheckInSandbox = (
  work: NamespaceCheck,
  types?: CompiledSchemas,
) => Promise<{ readonly finding: NamespaceFinding } | { readonly error: RunError }>;

type Patterns = Extract<SchemaOutcome, { patterns: unknown }>['patterns'];

/** Throws 422 for a regular expression that the engine does not accept. */
async function checkPatterns(check: CheckInSandbox, patterns: Patterns): Promise<void> {
  const [first] = patterns;
  if (!first) return;
  const outcome = await check({ patterns: patterns.map(({ pattern }) => pattern) });
  if ('error' in outcome) throw invalidNamespace(keysOfPointer(first.pointer), outcome.error.message);
  const { pattern } = outcome.finding;
  const refused = pattern === undefined ? undefined : patterns[pattern];
  if (!refused) return;
  throw invalidNamespace(
    keysOfPointer(refused.pointer),
    'must be a regular expression that the engine takes, with the flag "u"',
  );
}

/** Throws 422 for a sample that does not fit the schemas, and where the engine cannot load or do the compiled checks. */
async function checkSamples(
  check: CheckInSandbox,
  samples: readonly Sample[],
  compiled: CompiledSchemas,
): Promise<void> {
  const values = samples.flatMap((sample, i) =>
    directions
      .filter((direction) => sample[direction] !== undefined)
      .map((direction) => ({
        direction,
        json: JSON.stringify(sample[direction]),
        path: ['samples', String(i), direction],
      })),
  );
  // One more value is checked, so that the engine has to load the compiled checks even without samples. It need not fit.
  const trial = { direction: 'input' as const, json: 'null', path: ['input'] };
  const work = { values: [...values, trial].map(({ direction, json }) => ({ direction, json })) };
  const outcome = await check(work, compiled);
  if ('error' in outcome) {
    throw invalidNamespace(
      values.length ? ['samples'] : trial.path,
      `could not be checked: ${outcome.error.message}`,
    );
  }
  const { value, violation } = outcome.finding;
  const misfit = value === undefined ? undefined : values[value];
  if (misfit && violation)
    throw invalidNamespace([...misfit.path, ...keysOfPointer(violation.path)], violation.message);
}

const directions: readonly Direction[] = ['input', 'output'];

/** The error for a namespace with an invalid part. `path`: the keys that lead from its details to that part. */
export const invalidNamespace = (path: readonly string[], message: string) => {
  const pointer = toPointer(path, longestPointer);
  const issue = { path: keysOfPointer(pointer).map(indexOrKey), message: message.replace(/\.$/, '') };
  return new ServiceError(422, 'invalid-body', `${describeIssues([issue], 'the body')}.`, { path: pointer });
};

const indexOrKey = (key: string) => (/^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : key);
