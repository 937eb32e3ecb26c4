/** A JSON Schema (2020-12): an object, or `true` for anything and `false` for nothing. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** What the plugins of a namespace get and give; a missing schema is any JSON. With neither, they take and give text. */
export interface Schemas {
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
}

/**
 * What the service makes of {@link Schemas} once, for all builds and runs. The checks are source of functions in JavaScript,
 * which run in a VM of their own alone; a missing one takes any JSON.
 */
export interface CompiledSchemas {
  readonly schemas: Schemas;
  readonly inputCheck?: string;
  readonly outputCheck?: string;
}

/** The two directions in which JSON is checked. */
export type Direction = 'input' | 'output';

export const areTyped = ({
  input,
  output,
}: {
  readonly input?: unknown;
  readonly output?: unknown;
}): boolean => input !== undefined || output !== undefined;
