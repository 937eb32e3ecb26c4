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
  /** The problem that the service found when it ran with this text. */
  serviceProblem?: SchemaProblem | undefined;
  onInput: (value: string) => void;
}

/** A field for a value whose type is known. The element is part of `types/parts.ts`, which is loaded with the types. */
export function valueField(options: ValueFieldOptions): TemplateResult {
  const {
    id,
    label,
    value,
    schema,
    className,
    describedBy,
    isReadOnly = false,
    serviceProblem,
    onInput,
  } = options;
  return html`<json-field
    class=${className}
    .fieldId=${id}
    .label=${label}
    .value=${value}
    .schema=${schema}
    .describedBy=${describedBy}
    .isReadOnly=${isReadOnly}
    .serviceProblem=${serviceProblem}
    @input=${({ currentTarget }: Event) => onInput((currentTarget as HTMLElement & { value: string }).value)}
  ></json-field>`;
}

/** The problem that the service found in `text`, if the last run was with that text. */
export function serviceProblemOf(
  run: Run | undefined,
  text: string,
  code: string,
): SchemaProblem | undefined {
  if (!run || run.payload !== text || !('error' in run.outcome)) return undefined;
  const { error } = run.outcome;
  if (error.code !== code || error.path === undefined) return undefined;
  return { path: pathOf(error.path), message: error.message };
}
