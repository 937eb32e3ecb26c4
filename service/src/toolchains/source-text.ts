/**
 * A text as a double-quoted literal, which is the same in JavaScript, TypeScript and AssemblyScript. Invisible characters and
 * line breaks are written as escapes, so that no text can break out of the literal, or make the source look like another one.
 */
export const stringLiteral = (text: string): string =>
  JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escapeUnits);

/** A text as a double-quoted literal of Python, as {@link stringLiteral}. */
export const pythonString = (text: string): string =>
  JSON.stringify(text).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (one) => `\\U${(one.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  );

/** A text as Unicode escapes of its UTF-16 code units. */
export const escapeUnits = (text: string): string =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
