/** The longest path to a violation, in UTF-16 code units. A longer one is shortened to that of a parent. */
export const longestPath = 500;

/**
 * Source of a function that wraps a validator of `check-code.ts` as a check of JSON texts. The check returns an empty text for
 * one that fits, else a violation as JSON, `{ path, message }`. The message quotes the schema and never the value.
 */
export const checkHelper = `(() => {
  const { parse, stringify } = JSON;
  const hasOwn = (value, key) => typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  const unescape = (key) => key.replaceAll('~1', '/').replaceAll('~0', '~');
  const violation = (path, message) => {
    while (path.length > ${longestPath}) path = path.slice(0, path.lastIndexOf('/'));
    return stringify({ path, message });
  };
  const short = (value) => {
    const text = stringify(value);
    return text.length > 200 ? undefined : text;
  };
  const listed = (values) => {
    const names = values.map((value) => (typeof value === 'string' ? value : String(value)));
    return names.length > 1 ? names.slice(0, -1).join(', ') + ' or ' + names.at(-1) : names[0];
  };
  const plural = (n, one, many) => n + ' ' + (n === 1 ? one : many);
  const reasons = {
    type: (type) => 'must be of type ' + listed([type].flat()),
    const: (value) => { const text = short(value); return text === undefined ? undefined : 'must be ' + text; },
    enum: (values) => short(values) === undefined ? undefined : 'must be one of ' + values.map((value) => stringify(value)).join(', '),
    required: () => 'must be there',
    minimum: (n) => 'must be at least ' + n,
    maximum: (n) => 'must be at most ' + n,
    exclusiveMinimum: (n) => 'must be more than ' + n,
    exclusiveMaximum: (n) => 'must be less than ' + n,
    multipleOf: (n) => 'must be a multiple of ' + n,
    minLength: (n) => 'must have at least ' + plural(n, 'character', 'characters'),
    maxLength: (n) => 'must have at most ' + plural(n, 'character', 'characters'),
    pattern: (pattern) => pattern.length > 200 ? 'must match the pattern of the schema' : 'must match the pattern ' + pattern,
    minItems: (n) => 'must have at least ' + plural(n, 'item', 'items'),
    maxItems: (n) => 'must have at most ' + plural(n, 'item', 'items'),
    minProperties: (n) => 'must have at least ' + plural(n, 'property', 'properties'),
    maxProperties: (n) => 'must have at most ' + plural(n, 'property', 'properties'),
    uniqueItems: () => 'must have no item twice',
    contains: () => 'must contain an item that the schema asks for',
    minContains: (n) => 'must contain at least ' + n + ' of the items that the schema asks for',
    maxContains: (n) => 'must contain at most ' + n + ' of the items that the schema asks for',
    dependentRequired: () => 'must have what the schema asks for beside another property',
    anyOf: () => 'must fit one of the alternatives',
    oneOf: () => 'must fit one of the alternatives, and no other',
    not: () => 'must not fit what the schema rules out',
  };
  const maps = ['properties', 'patternProperties', 'dependentSchemas'];
  const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
  const reasonOf = (schema, location) => {
    let part = schema;
    let keyword = '';
    // Names of properties and the like are not keywords, even where they are spelled like one.
    let isName = false;
    for (const key of location.slice(2).split('/').map(unescape)) {
      if (!isName && key === '$ref') {
        part = schema.$defs[part.$ref.slice('#/$defs/'.length)];
        keyword = '';
        continue;
      }
      if (keyword === 'dependentRequired' || !hasOwn(part, key)) break;
      part = part[key];
      const isOfMany = isName || (lists.includes(keyword) && /^\\d+$/.test(key));
      keyword = isOfMany ? '' : key;
      isName = maps.includes(keyword);
    }
    if (part === false) return 'must not be there';
    const known = Object.hasOwn(reasons, keyword) ? reasons[keyword](part) : undefined;
    return known ?? 'does not fit the schema';
  };
  return (check) => {
    const [validate, schemaText] = check;
    return (text) => {
      let value;
      try {
        value = parse(text);
      } catch (error) {
        if (/out of memory/.test(String(error))) throw error;
        return violation('', /overflow|Maximum call stack/.test(String(error)) ? 'is nested too deep' : 'is not JSON');
      }
      try {
        if (validate(value)) return '';
      } catch (error) {
        if (!/overflow|Maximum call stack/.test(String(error))) throw error;
        return violation('', 'is nested too deep to be checked');
      }
      const [first] = validate.errors;
      return violation(first.instanceLocation.slice(1), reasonOf(parse(schemaText), first.keywordLocation));
    };
  };
})()`;

/** A validator that accepts any JSON, for {@link checkHelper}. */
export const anyCheck = '[() => true, "true"]';

/**
 * Source of a function that takes a list of regular expressions as JSON, and returns the index of the first that the engine does
 * not accept; -1 where it accepts all.
 */
export const patternHelper = `(text) => JSON.parse(text).findIndex((pattern) => {
  try { new RegExp(pattern, 'u'); } catch { return true; }
  return false;
})`;
