/*
 * What the templates of languages that take and give values have in common.
 */

export const typedTemplateComment = `/**
 * Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back. What these are is said by
 * the types Input and Output of the namespace.
 */
`;

/** The body of a function that returns a value, from its JSON; one that throws where there is none. */
export function returnStatement(json: string | undefined): string {
  // In a literal, this name would not be that of a property.
  if (json === undefined || json.includes('"__proto__"')) {
    return "  throw new Error('This plugin is not written yet.');";
  }
  return `  return ${shown(json).replaceAll('\n', '\n  ')};`;
}

/** JSON with lines, in which every character can be seen. */
const shown = (json: string) =>
  JSON.stringify(JSON.parse(json), null, 2).replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
