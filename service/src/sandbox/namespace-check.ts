import type { Direction } from '../plugins/schemas.ts';
import type { SchemaChecks, SchemaViolation } from './schema-checks.ts';

/** What is checked in the sandbox before the types of a namespace are saved. */
export interface NamespaceCheck {
  /** The regular expressions of its schemas. */
  readonly patterns?: readonly string[];
  /** The inputs and outputs of its samples, as JSON, to be checked by the schemas of the program. */
  readonly values?: readonly { readonly direction: Direction; readonly json: string }[];
}

/** The index of the first expression that the engine does not accept, or of the first value that does not fit; else empty. */
export interface NamespaceFinding {
  readonly pattern?: number;
  readonly value?: number;
  /** What is wrong with the value. */
  readonly violation?: SchemaViolation;
}

/** Runs a program of the kind `check`, whose input is a {@link NamespaceCheck} as JSON. */
export async function checkNamespace(
  checks: SchemaChecks,
  hash: string,
  input: string,
  deadline: number,
): Promise<NamespaceFinding> {
  const { patterns = [], values = [] } = JSON.parse(input) as NamespaceCheck;
  if (patterns.length) {
    const pattern = await checks.findInvalidPattern(patterns, deadline);
    if (pattern >= 0) return { pattern };
  }
  for (const [value, { direction, json }] of values.entries()) {
    const violation = await checks.check(hash, direction, json, deadline);
    if (violation) return { value, violation };
  }
  return {};
}
