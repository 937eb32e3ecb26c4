import { propertyText } from '../types/schema.ts';
import { parseExactly } from './verdict.ts';

/** One place where two JSON values differ. */
export interface JsonDifference {
  /** Where, as one writes it in JavaScript: `items[2].price`; empty for the whole value. */
  path: string;
  /** The value that is expected there, as JSON; `undefined` where there is to be none. */
  expected: string | undefined;
  /** The value that is there, as JSON; `undefined` where there is none. */
  actual: string | undefined;
}

/** The most differences that are listed. */
const MAX_DIFFERENCES = 100;

type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

/** Parses a text; `undefined` when it is no JSON. */
function parseJson(text: string): { value: Json } | undefined {
  try {
    return { value: parseExactly(text) as Json };
  } catch {
    return undefined;
  }
}

/** The differences between two results, by path; `undefined` where one of them is not JSON. */
export function differencesOf(expected: string, actual: string): JsonDifference[] | undefined {
  const [one, other] = [parseJson(expected), parseJson(actual)];
  return one && other && jsonDifferences(one.value, other.value);
}

/** Where two JSON values differ, in the order of the expected one; nothing when they are equal. Keys have no order. */
export function jsonDifferences(expected: Json, actual: Json): JsonDifference[] {
  const found: JsonDifference[] = [];
  compare(expected, actual, '', found);
  return found;
}

const isObject = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function compare(
  expected: Json | undefined,
  actual: Json | undefined,
  path: string,
  found: JsonDifference[],
): void {
  if (found.length >= MAX_DIFFERENCES) return;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let index = 0; index < Math.max(expected.length, actual.length); index++) {
      compare(expected[index], actual[index], `${path}[${index}]`, found);
    }
  } else if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const [one, other] = [own(expected, key), own(actual, key)];
      compare(one, other, propertyText(path, key), found);
    }
  } else if (expected !== actual) {
    found.push({ path, expected: written(expected), actual: written(actual) });
  }
}

const own = (value: Record<string, Json>, key: string) =>
  Object.hasOwn(value, key) ? value[key] : undefined;

const written = (value: Json | undefined) =>
  value === undefined
    ? undefined
    : JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? rawJson(inner) : inner));

/** An integer as JSON. A browser that reads numbers exactly writes them exactly, too. */
const rawJson = (value: bigint) =>
  (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(String(value));
