import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { JsonSchema } from '../../../service/src/plugins/schemas.ts';
import type { NamespaceFinding } from '../../../service/src/sandbox/namespace-check.ts';
import { linkSchema } from '../../../service/src/toolchains/schemas/link-schema.ts';
import { InvalidSchemaError } from '../../../service/src/toolchains/schemas/read-schema.ts';
import { temporaryDirectory } from '../harness.ts';
import { startSchemaTools } from './schema-tools.ts';

/*
 * The official tests, as a namespace's schemas go: compiled by the process of the schema compiler, checked in the VM of
 * a runner.
 */

interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const folder = new URL('./json-schema-test-suite/', import.meta.url);

const groups = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) =>
    (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Group[]).map((group) => ({
      ...group,
      name: `${file.replace('.json', '')}: ${group.description}`,
    })),
  );

/** What is refused, and why: these schemas need another document. */
const refused = {
  'refers to something outside of the schema, and nothing is fetched': [
    'defs: validate definition against metaschema',
    'dynamicRef: strict-tree schema, guards against misspelled properties',
    'dynamicRef: tests for implementation dynamic anchor and reference link',
    'dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first',
    'dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first',
    'dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor',
    'ref: remote ref, containing refs itself',
  ],
  'must be "https://json-schema.org/draft/2020-12/schema", or left out: other dialects are not known here': [
    'vocabulary: schema that uses custom metaschema with with no validation vocabulary',
    'vocabulary: ignore unrecognized optional vocabulary',
  ],
};

const isRefused = (name: string) => Object.values(refused).some((names) => names.includes(name));
const taken = groups.filter(({ name }) => !isRefused(name));

const { sandbox, compilePair, owner } = startSchemaTools();

/** What the schemas were compiled to, which two tests look at. */
const compiled = new Map<Group, ReturnType<typeof compilePair>>();
function compile(group: Group): ReturnType<typeof compilePair> {
  const known = compiled.get(group) ?? compilePair({ input: group.schema });
  compiled.set(group, known);
  return known;
}

test('a reference to another document is refused by name, with the place, before any library sees it', () => {
  const found: Record<string, string[]> = {};
  for (const { name, schema } of groups) {
    try {
      linkSchema(schema);
    } catch (error) {
      assert.ok(error instanceof InvalidSchemaError, name);
      assert.ok(error.place, name);
      (found[error.message] ??= []).push(name);
    }
  }
  assert.deepEqual(found, refused);
});

test('all other official tests pass', async () => {
  const failed: string[] = [];
  for (const group of taken) {
    const { name, tests } = group;
    const end = await compile(group);
    if ('failed' in end) {
      failed.push(`${name}: ${end.failed}`);
      continue;
    }
    const inputCheck = end.inputCheck ?? '';
    const program = loadedProgram({ kind: 'check', types: { schemas: {}, inputCheck } });
    const check = async (some: Group['tests']) => {
      const values = some.map(({ data }) => ({ direction: 'input', json: JSON.stringify(data) }));
      const outcome = await sandbox.run({ program, input: JSON.stringify({ values }), owner });
      assert.ok('result' in outcome, `${name}: ${JSON.stringify(outcome)}`);
      return (JSON.parse(outcome.result) as NamespaceFinding).value;
    };
    const valid = tests.filter((one) => one.valid);
    const wrong = await check(valid);
    if (wrong !== undefined) failed.push(`${name}: ${valid[wrong]?.description} should fit`);
    for (const one of tests) {
      if (!one.valid && (await check([one])) === undefined)
        failed.push(`${name}: ${one.description} should not fit`);
    }
  }
  assert.deepEqual(failed, []);
});

test('every value that fits a schema is of its type', async (t) => {
  const directory = temporaryDirectory(t);
  mkdirSync(directory, { recursive: true });
  for (const [i, group] of taken.entries()) {
    const { name, tests } = group;
    const end = await compile(group);
    assert.ok('declarations' in end, name);
    const values = tests
      .filter(({ valid }) => valid)
      .map(({ data }, n) => `export const value${n}: Input = ${JSON.stringify(data)};\n`);
    writeFileSync(
      join(directory, `${i}.ts`),
      `// ${name}\nexport {};\n${end.declarations}${values.join('')}`,
    );
  }
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    lib: ['es2024'],
    types: [],
    module: 'esnext',
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = fileURLToPath(import.meta.resolve('typescript/package.json')).replace(
    'package.json',
    'bin/tsc',
  );
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', directory]).catch(
    (error: { stdout: string }) => error,
  );
  assert.equal(stdout, '');
});

test("the editor's validator agrees with the service's on all groups but those that it cannot know", () => {
  const differing = taken.filter(({ schema, tests }) =>
    tests.some(({ data, valid }) => {
      try {
        return new Validator(schema, '2020-12').validate(data).valid !== valid;
      } catch {
        return true;
      }
    }),
  );
  // It treats `$dynamicRef` as an annotation, so that it accepts more and knows fewer evaluated items and properties.
  const withoutDynamic = differing.filter(({ schema }) => !JSON.stringify(schema).includes('"$dynamic'));
  assert.deepEqual(
    withoutDynamic.map(({ name }) => name),
    // It resolves a reference in a part with an `$id` by the URI around that part.
    ['ref: order of evaluation: $id and $anchor and $ref'],
  );
});
