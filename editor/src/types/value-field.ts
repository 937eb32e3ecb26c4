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

/** A field for a value whose type is known. The element is loaded with the types (`types-panel.ts`). */
export const valueField = (options: ValueFieldOptions): TemplateResult =>
  html`<json-field
    class=${options.className}
    .fieldId=${options.id}
    .label=${options.label}
    .value=${options.value}
    .schema=${options.schema}
    .describedBy=${options.describedBy}
    .isReadOnly=${options.isReadOnly ?? false}
    .serviceProblem=${options.serviceProblem}
    @input=${({ currentTarget }: Event) =>
      options.onInput((currentTarget as HTMLElement & { value: string }).value)}
  ></json-field>`;

/** The problem that the service found in the payload `text`, if the last run was with that text. */
export function serviceProblemOf(run: Run | undefined, text: string): SchemaProblem | undefined {
  if (!run || run.payload !== text || !('error' in run.outcome)) return undefined;
  const { error } = run.outcome;
  if (error.code !== 'invalid-input' || error.path === undefined) return undefined;
  return { path: pathOf(error.path), message: error.message };
}
