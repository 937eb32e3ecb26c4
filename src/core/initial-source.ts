import { isRecord, isText } from './guards.ts';

/** The source of a plugin that has no draft yet, instead of a template. */
export interface InitialSource {
  /** The program text. */
  contents: string;
  /** The `identifier` of its language, as the builder knows it. */
  lang: string;
  /** Its tests, as a draft has them. */
  tests?: readonly { name?: string; description?: string; payload?: string }[] | undefined;
}

/** How long the source may be as JSON, in bytes of UTF-8. */
const MAX_SOURCE_BYTES = 2 ** 20;

const isInitialSource = (value: unknown): value is InitialSource =>
  isRecord(value) &&
  isText(value['contents']) &&
  isText(value['lang']) &&
  value['lang'] !== '' &&
  (value['tests'] === undefined || (Array.isArray(value['tests']) && value['tests'].every(isRecord)));

/**
 * Copies what the page set as `initialSource`, so that later changes to the object change nothing.
 * @throws TypeError when it is not such a source, cannot be written as JSON, or is larger than 1 MiB.
 * @internal
 */
export function copyInitialSource(given: unknown): InitialSource | undefined {
  if (given === undefined || given === null) return undefined;
  try {
    const json = JSON.stringify(given);
    const copy: unknown = JSON.parse(json);
    if (isInitialSource(copy) && new TextEncoder().encode(json).length <= MAX_SOURCE_BYTES) return copy;
  } catch {
    // A cycle, a bigint or a function cannot be written as JSON. That is reported as any other wrong value is.
  }
  throw new TypeError('initialSource must be { contents, lang, tests? }, at most 1 MiB of JSON');
}
