import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';

/** The facts of the service that its documentation is generated from. */
export interface ServiceFacts {
  /** Meanings of error codes, by code and status. */
  errorCodes: Record<string, Record<string, string>>;
  openApi: OpenApi;
  /** Settings by their names in programs: the variable, the default as text, and what a value has to be, in words. */
  settings: { option: string; variable: string; default: string; kind: string }[];
  /** The constants that hold limits, by their names. */
  limits: Record<string, Record<string, number>>;
}

/** The parts of an OpenAPI document that the reference shows. */
export interface OpenApi {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, Schema> };
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, unknown>[];
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { description?: string; required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<
    string,
    {
      $ref?: string;
      description?: string;
      headers?: Record<string, unknown>;
      content?: Record<string, { schema: Schema }>;
    }
  >;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  description?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  examples?: string[];
}

/** Modules of the service and the constants in each that hold limits. */
const LIMITS = {
  'http/admission.ts': ['httpLimits'],
  'sandbox/run-limits.ts': ['runLimits'],
  'sandbox/python/python-protocol.ts': ['defaultPythonMemory'],
  'sandbox/wasm/wasm-check.ts': ['moduleLimits'],
  'toolchains/build/limits.ts': ['buildLimits', 'diagnosticLimits', 'checkTime', 'programLimit'],
  'toolchains/language-help/limits.ts': ['helpLimits'],
  'storage/postgres/limits.ts': ['postgresLimits'],
};

const PROGRAM = `
  const load = (path) => import(process.cwd() + '/service/src/' + path);
  const { errorCodes } = await load('http/error-codes.ts');
  const { interfaces } = await load('http/interfaces.ts');
  const { health } = await load('http/health.ts');
  const { openApiDocument } = await load('http/openapi/document.ts');
  const declared = (await load('settings/settings.ts')).settings;
  const openApi = openApiDocument([...health.operations, ...interfaces.flatMap((one) => one.operations)], '');
  const asText = (value) => value === undefined ? '' : value === true ? 'on' : value === false ? 'off' : String(value);
  const settings = Object.entries(declared).map(([option, { variable, fallback, parse }]) => ({
    option,
    variable,
    default: asText(fallback),
    // No kind with a rule accepts this value, so \`expected\` completes "it must be". Free text accepts it, and needs no description.
    kind: parse(' ?').expected ?? '',
  }));
  const limits = {};
  for (const [path, names] of Object.entries(${JSON.stringify(LIMITS)})) {
    const module = await load(path);
    for (const name of names) limits[name] = typeof module[name] === 'number' ? { value: module[name] } : module[name];
  }
  console.log(JSON.stringify({ errorCodes, openApi, settings, limits }));
`;

/**
 * Reads the facts in a process that loads the service's modules, because the tools must not import them. Nothing has to be built.
 */
export async function serviceFacts(): Promise<ServiceFacts> {
  const { stdout } = await promisify(execFile)(
    execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM],
    { maxBuffer: 16 * 2 ** 20 },
  );
  return JSON.parse(stdout) as ServiceFacts;
}
