import * as z from 'zod/mini';

// The results of the service, as far as the editor uses them: see `language-help/requests.ts` of the service.
const position = z.object({ line: z.number(), character: z.number() });
const range = z.object({ start: position, end: position });
const textEdits = z.array(z.object({ range, newText: z.string() }));
const markup = z.object({ kind: z.enum(['plaintext', 'markdown']), value: z.string() });

export const helpResults = {
  'textDocument/completion': z.nullable(
    z.object({
      isIncomplete: z.boolean(),
      items: z.array(
        z.object({
          label: z.string(),
          kind: z.optional(z.number()),
          sortText: z.optional(z.string()),
          filterText: z.optional(z.string()),
          insertText: z.optional(z.string()),
          textEdit: z.optional(z.object({ range, newText: z.string() })),
        }),
      ),
    }),
  ),
  'completionItem/resolve': z.nullable(
    z.object({ label: z.string(), detail: z.optional(z.string()), documentation: z.optional(markup) }),
  ),
  'textDocument/hover': z.nullable(z.object({ contents: markup, range: z.optional(range) })),
  'textDocument/signatureHelp': z.nullable(
    z.object({
      signatures: z.array(
        z.object({
          label: z.string(),
          documentation: z.optional(markup),
          parameters: z.array(z.object({ label: z.string(), documentation: z.optional(markup) })),
        }),
      ),
      activeSignature: z.optional(z.number()),
      activeParameter: z.optional(z.number()),
    }),
  ),
  'textDocument/definition': z.nullable(z.object({ ranges: z.array(range), isBuiltIn: z.boolean() })),
  'textDocument/rename': z.nullable(textEdits),
  'textDocument/codeAction': z.array(
    z.object({
      title: z.string(),
      data: z.optional(z.object({ fix: z.string(), name: z.optional(z.string()) })),
      edits: textEdits,
    }),
  ),
  'textDocument/formatting': z.nullable(textEdits),
} as const;

export type HelpMethod = keyof typeof helpResults;
export type HelpResult<Method extends HelpMethod> = z.output<(typeof helpResults)[Method]>;
export type TextEdits = z.output<typeof textEdits>;

export const isHelpMethod = (method: string): method is HelpMethod => Object.hasOwn(helpResults, method);
