import { schemaOf } from './shapes.ts';

/** The source of a plugin that has no draft yet, in place of a template. */
export interface InitialSource {
  /** The program text. */
  contents: string;
  /** The `identifier` of its language, as the builder knows it. */
  lang: string;
  /** Its tests, as in the interface's plugin source record. */
  tests?: readonly { name?: string; description?: string; payload?: string }[] | undefined;
}

/** How long the source may be as JSON, in bytes of UTF-8. */
const MAX_BYTES = 2 ** 20;

const shape = schemaOf<InitialSource>({
  contents: 'string',
  lang: /./s,
  'tests?': [{ 'name?': 'string', 'description?': 'string', 'payload?': 'string' }],
});

/**
 * Copies what the page set as `initialSource`, so that later changes to the object change nothing.
 * @throws TypeError when it is not such a source, cannot be written as JSON, or is larger than 1 MiB.
 */
export function copyInitialSource(given: unknown): InitialSource | undefined {
  if (given === undefined || given === null) return undefined;
  let json = '';
  try {
    json = JSON.stringify(given) ?? '';
  } catch {
    // A cycle or a bigint. That there is no JSON is what counts.
  }
  const { data } = shape.safeParse(json && JSON.parse(json));
  if (!data || new TextEncoder().encode(json).length > MAX_BYTES) {
    throw new TypeError('initialSource must be { contents, lang, tests? } and at most 1 MiB of JSON');
  }
  return data;
}
