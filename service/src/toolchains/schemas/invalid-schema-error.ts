/** A schema is invalid. */
export class InvalidSchemaError extends Error {
  override readonly name = 'InvalidSchemaError';
  /** The keys that lead from the schema's root to the invalid part. */
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}
