// Controls, characters that change the direction of the text around them, characters without a shape, and every space
// but the plain one; and the plain one too where it cannot be seen: at an end, or before another space.
const HIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}|^ | $| (?= )/gu;

/**
 * A name as it can be shown: each character that a reader would not see, or that would move what stands around it,
 * becomes its code point, such as `[U+202E]`. Two names that differ are then not taken for the same for such a
 * character, and none of them can rearrange the page.
 */
export const visibleText = (text: string): string =>
  text.replace(
    HIDDEN,
    (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
