import { setImmediate as yieldToOthers } from 'node:timers/promises';

/** How many characters are serialized at once. A control character becomes six, which takes the longest. */
const pieceLength = 128 * 1024;

/** The JSON of a text. Others get a turn between the pieces of a long one. */
export async function stringifyText(text: string): Promise<string> {
  const pieces: string[] = [];
  for (let start = 0, end = 0; end < text.length; start = end) {
    if (start > 0) await yieldToOthers();
    end = Math.min(start + pieceLength, text.length);
    // Half of a pair of surrogates would be escaped.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    pieces.push(JSON.stringify(text.slice(start, end)).slice(1, -1));
  }
  return `"${pieces.join('')}"`;
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00;

/** The JSON of an object. Others get a turn between the pieces of its long texts. */
export async function stringifyMembers(object: object): Promise<string> {
  const members: string[] = [];
  for (const [key, value] of Object.entries(object) as [string, unknown][]) {
    if (value === undefined) continue;
    const json = typeof value === 'string' ? await stringifyText(value) : JSON.stringify(value);
    members.push(`${JSON.stringify(key)}:${json}`);
  }
  return `{${members.join()}}`;
}
