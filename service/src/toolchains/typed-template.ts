import { escapeUnits } from './source-text.ts';

/*
 * The parts that the typed templates of JavaScript and TypeScript share.
 */

export const typedTemplateComment = `/**
 * Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back. The types
 * Input and Output of the namespace describe both.
 */
`;

/** The body of a function that returns a value, given as JSON. Without a value it throws. */
export function returnStatement(json: string | undefined): string {
  // In an object literal, `__proto__` sets the prototype and makes no property.
  if (json === undefined || json.includes('"__proto__"')) {
    return "  throw new Error('This plugin is not written yet.');";
  }
  return `  return ${formatJson(json).replaceAll('\n', '\n  ')};`;
}

/** Indents JSON, and escapes invisible characters. */
const formatJson = (json: string) =>
  JSON.stringify(JSON.parse(json), null, 2).replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, escapeUnits);
