/**
 * How deep the arrays and objects of a JSON body may be nested. A plugin's source record needs three levels; fields that
 * clients add may need more. Deeper values could overflow the stack of any recursive function, `JSON.stringify` included.
 */
export const jsonDepth = 64;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether the arrays and objects of a JSON text are nested deeper than `limit`. Looks at the text alone, once. */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) inString = !inString;
    else if (inString) i += unit === BACKSLASH ? 1 : 0;
    else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) depth += 1;
    else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
