import * as z from 'zod';
import { helpLimits } from './limits.ts';

/*
 * The requests of language help and their results: a part of the Language Server Protocol (LSP 3.17), in its own terms. Lines
 * and characters count from 0, characters in UTF-16 code units. Each request comes with the whole source, so that there is no
 * state between requests. Results come from a process that works on source that anybody may have written: they are validated by
 * these schemas, limits included, before they are passed on.
 */

const place = z.int().min(0).max(helpLimits.source);
export const position = z.object({ line: place, character: place });
export const range = z.object({ start: position, end: position });

const label = z.string().max(helpLimits.label);

/** A new name for a rename. */
const identifier = label.regex(/^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u, {
  error: 'must be a name: letters, digits, "_" and "$", and no digit first',
});

const at = z.object({ position });

/** The requests, by their methods in the protocol. `completionItem/resolve` names a completion by its place and label. */
export const helpRequest = z.discriminatedUnion('method', [
  z.object({ method: z.literal('textDocument/completion'), params: at }),
  z.object({ method: z.literal('completionItem/resolve'), params: at.extend({ label }) }),
  z.object({ method: z.literal('textDocument/hover'), params: at }),
  z.object({ method: z.literal('textDocument/signatureHelp'), params: at }),
  z.object({ method: z.literal('textDocument/definition'), params: at }),
  z.object({ method: z.literal('textDocument/rename'), params: at.extend({ newName: identifier }) }),
  z.object({ method: z.literal('textDocument/codeAction'), params: z.object({ range }) }),
  z.object({
    method: z.literal('textDocument/formatting'),
    params: z.object({
      options: z.object({ tabSize: z.int().min(1).max(16), insertSpaces: z.boolean() }),
    }),
  }),
]);

export type HelpRequest = z.infer<typeof helpRequest>;
export type HelpMethod = HelpRequest['method'];

const documentation = z.string().max(helpLimits.documentation);
const markup = z.object({ kind: z.enum(['plaintext', 'markdown']), value: documentation });
const textEdit = z.object({ range, newText: z.string().max(helpLimits.source) });
const textEdits = z.array(textEdit).max(helpLimits.edits);
const textEditsIfAny = textEdits.nullable();

const completionItem = z.object({
  label,
  /** The protocol's number of a kind. */
  kind: z.int().exactOptional(),
  sortText: label.exactOptional(),
  filterText: label.exactOptional(),
  insertText: label.exactOptional(),
  textEdit: z.object({ range, newText: label }).exactOptional(),
});

const signature = z.object({
  label: z.string().max(helpLimits.documentation),
  documentation: markup.exactOptional(),
  parameters: z
    .array(
      z.object({ label: z.string().max(helpLimits.documentation), documentation: markup.exactOptional() }),
    )
    .max(helpLimits.parameters),
});

/** The result of each method; `null` where there is none. */
export const helpResults = {
  'textDocument/completion': z
    .object({ isIncomplete: z.boolean(), items: z.array(completionItem).max(helpLimits.completions) })
    .nullable(),
  'completionItem/resolve': z
    .object({ label, detail: documentation.exactOptional(), documentation: markup.exactOptional() })
    .nullable(),
  'textDocument/hover': z.object({ contents: markup, range: range.exactOptional() }).nullable(),
  'textDocument/signatureHelp': z
    .object({
      signatures: z.array(signature).max(helpLimits.signatures),
      activeSignature: z.int().exactOptional(),
      activeParameter: z.int().exactOptional(),
    })
    .nullable(),
  /** Places in the plugin. `isBuiltIn`: the language, the sandbox or the types of the namespace define it, and not the plugin. */
  'textDocument/definition': z
    .object({ ranges: z.array(range).max(helpLimits.fixes), isBuiltIn: z.boolean() })
    .nullable(),
  /** The edits that rename it; `null` where it cannot be renamed. */
  'textDocument/rename': textEditsIfAny,
  'textDocument/codeAction': z
    .array(
      z.object({
        title: label,
        kind: z.literal('quickfix'),
        /** Which fix it is, for an editor that shows another title for it. `name`: the name that a fix of spelling inserts. */
        data: z.object({
          fix: z.enum(['spelling', 'async', 'optional', 'import', 'ignore']),
          name: label.exactOptional(),
        }),
        edits: textEdits,
      }),
    )
    .max(helpLimits.fixes),
  'textDocument/formatting': textEditsIfAny,
} as const satisfies Record<HelpMethod, z.ZodType>;

export type HelpResult<Method extends HelpMethod = HelpMethod> = z.infer<(typeof helpResults)[Method]>;
export type Position = z.infer<typeof position>;
export type Range = z.infer<typeof range>;
export type TextEdit = z.infer<typeof textEdit>;
