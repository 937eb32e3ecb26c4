import { SchemaError } from './errors.ts';
import { isRecord, isText } from './guards.ts';
import type { Features } from './records.ts';

/**
 * Checks a features record as `featuresSchema` does, for the script tag, which has no zod (guards.ts). A test compares both.
 * @param label names the request in the error
 * @throws SchemaError
 */
export function parseFeatures(value: unknown, label: string): Features {
  const check = (isRight: boolean, expected: string, ...path: (string | number)[]) => {
    if (!isRight) throw new SchemaError(label, `expected ${expected}`, path.join('.'));
  };
  check(isRecord(value), 'object');
  const record = value as Features;
  check(Array.isArray(record.features), 'array', 'features');
  record.features.forEach((feature, i) => check(isText(feature), 'string', 'features', i));
  check(Array.isArray(record.languages), 'array', 'languages');
  record.languages.forEach((language, i) => {
    check(isRecord(language), 'object', 'languages', i);
    for (const name of ['identifier', 'pretty', 'short'] as const)
      check(isText(language[name]), 'string', 'languages', i, name);
  });
  return record;
}
