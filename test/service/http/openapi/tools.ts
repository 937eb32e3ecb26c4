import { execFile } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installTestPackages, packagesFolder, testPackages } from '../../../packages/packages.ts';
import { temporaryDirectory } from '../../harness.ts';
import type { DocumentedOperation, OpenApi, Parameter } from './openapi.ts';

const client = fileURLToPath(new URL('client/', import.meta.url));

/** A folder with a document, the program that uses it, and the tools for both. */
export async function toolsFor(t: TestContext, document: unknown) {
  await installTestPackages();
  const folder = temporaryDirectory(t);
  for (const name of ['redocly.yaml', 'scenario.ts', 'tsconfig.json']) {
    cpSync(join(client, name), join(folder, name));
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(packagesFolder, 'node_modules'), join(folder, 'node_modules'), 'dir');
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  /** Runs a tool of these packages; resolves with its output, or with its exit code and output where it fails. */
  const run = async (script: string, ...args: string[]) => {
    const env = {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      NO_COLOR: '1',
    };
    const file = join(folder, 'node_modules', script);
    return promisify(execFile)(process.execPath, [file, ...args], { cwd: folder, env }).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      (error: { code?: number; stdout?: string; stderr?: string }) => ({
        code: error.code ?? 1,
        output: `${error.stdout ?? ''}${error.stderr ?? ''}`,
      }),
    );
  };
  return { folder, run };
}

/** Tells by Ajv what the schemas of a document allow. */
export interface SchemaValidator {
  ofBody(operation: DocumentedOperation): (value: unknown) => boolean;
  ofParameter(operation: DocumentedOperation, parameter: Parameter): (value: unknown) => boolean;
  /** What is wrong with the JSON of a response; `undefined` where nothing is. */
  problemOf(operation: DocumentedOperation, status: number, value: unknown): string | undefined;
}

interface Ajv {
  addSchema(schema: object, key: string): void;
  compile(schema: object): ((value: unknown) => boolean) & { errors?: object[] | null };
  errorsText(errors?: object[] | null): string;
}

export async function schemaValidator(document: OpenApi): Promise<SchemaValidator> {
  const load = await testPackages();
  const { default: Ajv2020 } = load('ajv/dist/2020.js') as { default: new (options: object) => Ajv };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'openapi');
  const compiled = new Map<string, ReturnType<Ajv['compile']>>();
  const at = (...keys: readonly (string | number)[]) => {
    const steps = keys.map((key) =>
      encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const $ref = `openapi#/${steps.join('/')}`;
    const known = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, known);
    return known;
  };
  const json = ['content', 'application/json', 'schema'] as const;
  const jsonPathOf = ({ path, method }: DocumentedOperation) =>
    ['paths', path, method.toLowerCase()] as const;
  return {
    ofBody: (operation) => at(...jsonPathOf(operation), 'requestBody', ...json),
    ofParameter: (operation, parameter) =>
      at(...jsonPathOf(operation), 'parameters', operation.parameters?.indexOf(parameter) ?? 0, 'schema'),
    problemOf(operation, status, value) {
      const { $ref } = operation.responses[status] ?? {};
      const response =
        $ref === undefined ? [...jsonPathOf(operation), 'responses', status] : $ref.split('/').slice(1);
      const validate = at(...response, ...json);
      return validate(value) ? undefined : ajv.errorsText(validate.errors);
    },
  };
}
