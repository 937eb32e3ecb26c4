import { type TemplateResult, html } from 'lit/html.js';
import type { Run } from '../pipeline/pipeline.ts';
import type { SchemaProblem } from './schema-problems.ts';
import { type Schema, pathOf } from './schema.ts';

export interface ValueFieldOptions {
  id: string;
  label: string;
  value: string;
  schema: Schema | undefined;
  /** Classes by which tests and styles know the field. */
  className: string;
  describedBy?: string | undefined;
  isReadOnly?: boolean;
  /** What the service found in this very text. */
  told?: SchemaProblem | undefined;
  onInput: (value: string) => void;
}

/** A field for a value of a namespace with types; the element is loaded by whoever knows that there are types. */
export function valueField(options: ValueFieldOptions): TemplateResult {
  const { id, label, value, schema, className, describedBy, isReadOnly = false, told, onInput } = options;
  return html`<json-field
    class=${className}
    .fieldId=${id}
    .label=${label}
    .value=${value}
    .schema=${schema}
    .describedBy=${describedBy}
    .isReadOnly=${isReadOnly}
    .told=${told}
    @input=${({ currentTarget }: Event) => onInput((currentTarget as HTMLElement & { value: string }).value)}
  ></json-field>`;
}

/** What the service found wrong with a text, where the last run was with that very text. */
export function serviceProblemOf(
  run: Run | undefined,
  text: string,
  code: string,
): SchemaProblem | undefined {
  if (!run || run.payload !== text || !('error' in run.answer)) return undefined;
  const { error } = run.answer;
  if (error.code !== code || error.path === undefined) return undefined;
  return { path: pathOf(error.path), message: error.message };
}
