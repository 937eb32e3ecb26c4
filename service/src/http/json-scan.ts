import { setImmediate as turn } from 'node:timers/promises';

/**
 * How deep the arrays and objects of a JSON body may be nested. A plugin's source record needs three levels; fields that
 * clients add may need more. Deeper values could overflow the stack of any recursive function, `JSON.stringify` included.
 */
export const jsonDepth = 64;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** What a JSON text holds. */
export interface JsonCounts {
  readonly isTooDeep: boolean;
  /** The members of all objects and the elements of all arrays. */
  readonly values: number;
  /** How many of them each member of the outermost object holds, by its name. */
  readonly members: ReadonlyMap<string, number>;
  /** The elements of each array that is a member of the outermost object, by its name. */
  readonly elements: ReadonlyMap<string, number>;
}

/** How many characters, or strings and parts of strings, are looked at in one piece: within 2 ms or so. */
const pieceSize = 64 * 1024;

/**
 * Counts what a JSON text holds. It looks only at the text, once, so that a text can be refused before objects are made of it.
 * Of a text that is not JSON the counts mean nothing. A long text takes several turns of the event loop.
 */
export async function scanJson(text: string): Promise<JsonCounts> {
  const pieces = scan(text);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
    await turn();
  }
}

/** Scans a text, and yields after each piece. */
function* scan(text: string): Generator<undefined, JsonCounts> {
  let left = pieceSize;
  let depth = 0;
  let values = 0;
  /** Whether the next character that is no space begins the first value of an array or object, or ends it. */
  let mayBeEmpty = false;
  /** Where the last string in the outermost object began and ended. */
  let [name, nameEnd] = [0, 0];
  /** The member of the outermost object whose values are counted, and the counts when it began. */
  let member = '';
  let [valuesBefore, count] = [0, 0];
  let isArray = false;
  /** Whether the outermost value is an object. */
  let hasMembers = false;
  const members = new Map<string, number>();
  const elements = new Map<string, number>();
  const result = (isTooDeep: boolean): JsonCounts => ({ isTooDeep, values, members, elements });
  for (let i = 0; i < text.length; i++) {
    if (--left === 0) {
      yield;
      left = pieceSize;
    }
    const unit = text.charCodeAt(i);
    // Space, tab and line breaks.
    if (unit <= 0x20) continue;
    if (mayBeEmpty) {
      mayBeEmpty = false;
      if (unit !== CLOSE_ARRAY && unit !== CLOSE_OBJECT) {
        values += 1;
        if (depth === 2) count += 1;
      }
    }
    if (unit === QUOTE) {
      let end = text.indexOf('"', i + 1);
      while (end >= 0 && isEscaped(text, end)) {
        end = text.indexOf('"', end + 1);
        if (--left > 0) continue;
        yield;
        left = pieceSize;
      }
      if (end < 0) end = text.length - 1;
      if (depth === 1) [name, nameEnd] = [i, end + 1];
      i = end;
    } else if (unit === COMMA) {
      values += 1;
      if (depth === 2) count += 1;
    } else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      if (depth === 0) {
        hasMembers = unit === OPEN_OBJECT;
      } else if (depth === 1) {
        member = text.slice(name, nameEnd);
        isArray = unit === OPEN_ARRAY;
        [valuesBefore, count] = [values, 0];
      }
      depth += 1;
      if (depth > jsonDepth) return result(true);
      mayBeEmpty = true;
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
      depth -= 1;
      if (depth !== 1 || !hasMembers) continue;
      const key = unescaped(member);
      // No JSON: to find that out for each of many members would take seconds.
      if (key === undefined) return result(false);
      members.set(key, values - valuesBefore);
      if (isArray) elements.set(key, count);
    }
  }
  return result(false);
}

/** A name as it is meant; `undefined` where it is not JSON. */
function unescaped(name: string): string | undefined {
  try {
    return JSON.parse(name) as string;
  } catch {
    return undefined;
  }
}

/** Whether an odd number of backslashes is before this character. */
function isEscaped(text: string, index: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}
