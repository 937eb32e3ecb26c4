import type { Direction } from '../plugins/schemas.ts';
import type { SchemaChecks, ValueFault } from './schema-checks.ts';

/** What is looked at before the types of a namespace are taken. */
export interface NamespaceCheck {
  /** Regular expressions. */
  readonly patterns?: readonly string[];
  /** What the samples hold, as JSON, to be checked by the schemas of the program. */
  readonly values?: readonly { readonly direction: Direction; readonly json: string }[];
}

/** What was found: the first expression that the engine does not take, or the first value that does not fit; or nothing. */
export interface NamespaceFinding {
  readonly pattern?: number;
  readonly value?: number;
  /** Of the value. */
  readonly fault?: ValueFault;
}

/** Does what a program of the kind `check` is for: its input is a {@link NamespaceCheck} as JSON. */
export async function checkNamespace(
  checks: SchemaChecks,
  hash: string,
  input: string,
  deadline: number,
): Promise<NamespaceFinding> {
  const { patterns = [], values = [] } = JSON.parse(input) as NamespaceCheck;
  if (patterns.length) {
    const pattern = await checks.findBadPattern(patterns, deadline);
    if (pattern >= 0) return { pattern };
  }
  for (const [value, { direction, json }] of values.entries()) {
    const fault = await checks.check(hash, direction, json, deadline);
    if (fault) return { value, fault };
  }
  return {};
}
