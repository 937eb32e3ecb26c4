/**
 * A text as a double-quoted literal, the same in JavaScript, TypeScript and AssemblyScript. What cannot be seen
 * or would end the line is written as an escape, so that no name can break out of the literal, or make the source
 * look like something that it isn't.
 */
export const stringLiteral = (text: string): string =>
  JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
