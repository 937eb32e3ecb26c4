/** Takes the place of a token, and of what was cut off. */
const ELLIPSIS = '…';

/** The shortest token that is redacted. A shorter one may be part of any word. */
const MIN_LENGTH = 5;

/**
 * Returns a text without any of these tokens, cut to at most `max` UTF-16 code units. What is beyond is not even read. The
 * ellipsis at the cut is among them, unless `max` is 0: then only the ellipsis is returned.
 */
export function redactTokens(text: string, tokens: readonly string[], max: number): string {
  // The longest first, as one may be part of another.
  const secrets = tokens
    .filter((token) => token.length >= MIN_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  const isCut = text.length > max;
  // One code unit less than allowed, because the ellipsis is appended.
  let redacted = isCut ? text.slice(0, max).slice(0, -1) : text;
  for (const secret of secrets) redacted = redacted.replaceAll(secret, ELLIPSIS);
  if (!isCut) return redacted;
  for (const secret of secrets) {
    // The cut may have left the beginning of a token.
    for (let length = secret.length; --length >= MIN_LENGTH;) {
      if (redacted.endsWith(secret.slice(0, length))) redacted = redacted.slice(0, -length);
    }
  }
  // The cut may also have divided a surrogate pair.
  return redacted.toWellFormed() + ELLIPSIS;
}
