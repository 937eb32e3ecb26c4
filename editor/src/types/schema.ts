/** A JSON Schema (2020-12), as a namespace has it. It is not validated, so its parts may have any type. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

/** The schemas that apply to one value, with what they refer to; `true` and `false`, which say nothing about it, are left out. */
export type SchemaParts = readonly Record<string, unknown>[];

/** Where something is in a value: names of properties and numbers of entries, from the outside in. */
export type Path = readonly string[];

/** How many references, alternatives and parts are followed at most: a schema may refer to itself. */
const MAX_PARTS = 200;

/** The parts of a JSON Pointer; `#/a/b`, as some write it, is one too. */
export const pathOf = (pointer: string): Path =>
  pointer
    .replace(/^#/, '')
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** A path as one writes it in JavaScript: `lines[2].price`; empty for the whole value. */
export const pathText = (path: Path): string =>
  path.reduce((text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : propertyText(text, part)), '');

/** The path of a property of the value at `path`, as one writes it in JavaScript: `price.net`, `price["excl. VAT"]`. */
export function propertyText(path: string, name: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path ? `${path}.${name}` : name;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (record: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const isSchema = (value: unknown): value is Schema => typeof value === 'boolean' || isRecord(value);

/** The schema that a reference within the document points to. */
function resolveReference(root: Schema, ref: unknown): Schema | undefined {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) return undefined;
  let place: unknown = root;
  for (const part of pathOf(decodePointer(ref))) {
    if (Array.isArray(place)) place = place[Number(part)];
    else place = isRecord(place) ? own(place, part) : undefined;
  }
  return isSchema(place) ? place : undefined;
}

/** A pointer in the form of a URL's fragment, decoded; one that is not well-formed stays as it is. */
export function decodePointer(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/** All schemas that apply, or may apply, to a value of `schema`: itself, what it refers to, its parts and its alternatives. */
export function partsOf(root: Schema, schema: Schema): SchemaParts {
  const found: Record<string, unknown>[] = [];
  const pending: Schema[] = [schema];
  // The loop also visits what it adds to the list.
  for (const one of pending) {
    if (!isRecord(one) || found.includes(one) || found.length >= MAX_PARTS) continue;
    found.push(one);
    const reference = resolveReference(root, one['$ref']);
    const groups = [one['allOf'], one['anyOf'], one['oneOf']].filter(Array.isArray).flat();
    pending.push(...[...groups, one['then'], one['else'], reference].filter(isSchema));
  }
  return found;
}

/** The schemas that apply to a property or an entry of the value. */
export function memberParts(root: Schema, parts: SchemaParts, name: string): SchemaParts {
  return parts.flatMap((part) => {
    const { properties, prefixItems, items, additionalProperties } = part;
    const index = /^\d+$/.test(name) ? Number(name) : undefined;
    const inner = [
      isRecord(properties) ? own(properties, name) : undefined,
      index !== undefined && Array.isArray(prefixItems) ? prefixItems[index] : undefined,
      index !== undefined && !(Array.isArray(prefixItems) && index < prefixItems.length) ? items : undefined,
    ].filter(isSchema);
    const any = inner.length === 0 && isSchema(additionalProperties) ? [additionalProperties] : inner;
    return any.flatMap((one) => partsOf(root, one));
  });
}

/** The schemas that apply to the value at a path. */
export function schemasAt(root: Schema, path: Path): SchemaParts {
  let parts = partsOf(root, root);
  for (const name of path) parts = memberParts(root, parts, name);
  return parts;
}

/** The properties that these schemas name. */
export function propertiesOf(parts: SchemaParts): string[] {
  return [
    ...new Set(parts.flatMap(({ properties }) => (isRecord(properties) ? Object.keys(properties) : []))),
  ];
}

/** The names of the required properties. */
export function requiredOf(parts: SchemaParts): Set<string> {
  const names = parts.flatMap(({ required }): unknown[] => (Array.isArray(required) ? required : []));
  return new Set(names.filter((name) => typeof name === 'string'));
}

/** The values that these schemas name, as JSON. */
export function valuesOf(parts: SchemaParts): string[] {
  const named = parts.flatMap((part): unknown[] => [
    ...(Array.isArray(part['enum']) ? part['enum'] : []),
    ...('const' in part ? [part['const']] : []),
  ]);
  return [...new Set(named.map((value) => JSON.stringify(value)))];
}

/** The types that these schemas name: `string`, `integer` and so on. */
export const typesOf = (parts: SchemaParts): string[] => [
  ...new Set(parts.flatMap(({ type }) => type).filter((type) => typeof type === 'string')),
];

/** The first description among these schemas. */
export const descriptionOf = (parts: SchemaParts): string | undefined =>
  parts.map(({ description }) => description).find((text): text is string => typeof text === 'string');

/** How many values of an enumeration are listed at most. */
const MAX_VALUES = 8;

/** A short name of the type, the same in every language: `integer`, `"retail" | "trade"`. */
export function typeLabel(parts: SchemaParts): string {
  const values = valuesOf(parts);
  if (values.length > 0) {
    return values.slice(0, MAX_VALUES).join(' | ') + (values.length > MAX_VALUES ? ' | …' : '');
  }
  return typesOf(parts).join(' | ');
}

/** The types of a plugin's input and output; a missing schema is any JSON. */
export interface Schemas {
  input?: Schema | undefined;
  output?: Schema | undefined;
}
