import * as z from 'zod';
import { range } from './requests.ts';

/*
 * The results of TypeScript's language server, as far as they are used. Forms that the protocol permits and this server never
 * sends are left out.
 */

const markup = z.object({ kind: z.string(), value: z.string() });
const edit = z.object({ range, newText: z.string() });
const optional = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined);

export const completionItem = z.looseObject({
  label: z.string(),
  kind: optional(z.int()),
  sortText: optional(z.string()),
  filterText: optional(z.string()),
  insertText: optional(z.string()),
  textEdit: optional(edit),
  detail: optional(z.string()),
  documentation: optional(markup),
  additionalTextEdits: optional(z.array(z.unknown())),
});

export type ServerCompletion = z.infer<typeof completionItem>;

export const completions = z.object({ isIncomplete: z.boolean(), items: z.array(completionItem) }).nullable();

export const hover = z.object({ contents: markup, range: optional(range) }).nullable();

export const signatureHelp = z
  .object({
    signatures: z.array(
      z.object({
        label: z.string(),
        documentation: optional(markup),
        parameters: optional(z.array(z.object({ label: z.string(), documentation: optional(markup) }))),
        activeParameter: optional(z.int()),
      }),
    ),
    activeSignature: optional(z.int()),
    activeParameter: optional(z.int()),
  })
  .nullable();

export const locations = z.array(z.object({ uri: z.string(), range })).nullable();

export const workspaceEdit = z.object({ changes: optional(z.record(z.string(), z.array(edit))) }).nullable();

export const edits = z.array(edit).nullable();

export const diagnostics = z.object({
  items: z.array(
    z.looseObject({
      range,
      severity: optional(z.int()),
      code: optional(z.int()),
      message: z.string(),
      relatedInformation: optional(
        z.array(z.object({ location: z.object({ uri: z.string(), range }), message: z.string() })),
      ),
    }),
  ),
});

export type ServerDiagnostic = z.infer<typeof diagnostics>['items'][number];
