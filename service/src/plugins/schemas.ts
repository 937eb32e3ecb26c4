/** A JSON Schema (2020-12): an object, or `true` for anything and `false` for nothing. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** The schemas of a namespace. A missing one stands for any JSON. With neither, the plugins take and return text. */
export interface Schemas {
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
}

/**
 * {@link Schemas} that were compiled once, for all builds and runs. The checks are JavaScript source, which only runs in engines of
 * its own in the sandbox; a missing one accepts any JSON.
 */
export interface CompiledSchemas {
  readonly schemas: Schemas;
  readonly inputCheck?: string;
  readonly outputCheck?: string;
  /** Missing where a release that ignored formats has compiled them. */
  readonly checksFormats?: true;
}

/** Which JSON of a run is checked. */
export type Direction = 'input' | 'output';

/** Whether the plugins of a namespace with these schemas have types. */
export const areTyped = ({
  input,
  output,
}: {
  readonly input?: unknown;
  readonly output?: unknown;
}): boolean => input !== undefined || output !== undefined;
