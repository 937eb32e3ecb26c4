/** A schema is not what it has to be. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  /** Where, as the keys on the way to it from the schema's root. */
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}
