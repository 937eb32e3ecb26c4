/** The longest path to a violation, in UTF-16 code units. A longer one is shortened to that of a parent. */
export const longestPath = 500;

/**
 * Source of a function that wraps a validator of `check-code.ts` as a check of JSON texts. The check returns an empty text for
 * one that fits, else a violation as JSON, `{ path, message }`. The message quotes the schema and never the value.
 */
export const checkHelper = `(() => {
  const { parse, stringify } = JSON;
  const hasOwn = (value, key) => typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  const escape = (key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1');
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
  const oneLine = ['^[^\\\\r\\\\n]*$', '^[^\\\\n\\\\r]*$', '^[^\\\\n]*$', '^.*$'];
  const formatWords = {
    date: 'a date, such as 2026-03-31',
    time: 'a time with its offset, such as 14:30:00Z',
    'date-time': 'a date and time with its offset, such as 2026-03-31T14:30:00Z',
    duration: 'a duration, such as P1DT12H',
    email: 'an e-mail address',
    uuid: 'a UUID',
    uri: 'a URI, such as https://example.com/',
    hostname: 'a host name',
    ipv4: 'an IPv4 address',
    ipv6: 'an IPv6 address',
  };
  const reasons = {
    type: (type) => 'must be of type ' + listed([type].flat().filter((one, i, all) => one !== 'integer' || !all.includes('number'))),
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
    pattern: (pattern) => {
      if (oneLine.includes(pattern)) return 'must be one line';
      return pattern.length > 200 ? 'must match the pattern of the schema' : 'must match the pattern ' + pattern;
    },
    format: (format) => 'must be ' + (formatWords[format] ?? 'of the format ' + format),
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

  // Which alternative comes nearest is found by reading the schema, and not by the validator, which stops at the first violation.
  // What is read is bounded; where that is not enough, or a keyword decides that is not known here, nothing is said about it.
  const tooMuch = {};
  const typeOf = (value) =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;
  const fails = {
    minimum: (v, n) => v < n, maximum: (v, n) => v > n,
    exclusiveMinimum: (v, n) => v <= n, exclusiveMaximum: (v, n) => v >= n,
    multipleOf: (v, n) => v % n !== 0,
    minLength: (v, n) => v.length < n || (v.length < 2 * n && [...v].length < n), maxLength: (v, n) => v.length > 2 * n || [...v].length > n,
    pattern: (v, pattern) => !new RegExp(pattern, 'u').test(v),
    minItems: (v, n) => v.length < n, maxItems: (v, n) => v.length > n,
  };
  const keywordsFor = {
    number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    string: ['minLength', 'maxLength', 'pattern', 'format'],
    array: ['minItems', 'maxItems'],
  };
  const readKeywords = [...Object.values(keywordsFor).flat(), 'type', 'const', 'enum', 'properties', 'required', 'additionalProperties',
    'prefixItems', 'items', 'allOf', 'anyOf', 'oneOf', '$ref', '$defs', 'title', 'description', 'deprecated'];
  // Multiples of a fraction are not computed here, because both numbers may be rounded.
  const isRead = (part, key) => readKeywords.includes(key) && (key !== 'multipleOf' || Number.isInteger(part.multipleOf));
  const explain = (root, formats, keyword, alternatives, value, path) => {
    let steps = 0;
    // Whether a part without a misfit fits: each keyword that was met is read, and decides.
    let isSure = true;
    const resolve = (part) => {
      for (let n = 0; n <= 100; n += 1) {
        const keys = Object.keys(part);
        if (hasOwn(part, '$ref') && keys.every((key) => key === '$ref' || key === '$defs')) part = root.$defs[part.$ref.slice('#/$defs/'.length)];
        else if (part.if === true && keys.every((key) => key === 'if' || key === 'then')) part = part.then ?? true;
        else return part;
      }
      throw tooMuch;
    };
    const misfits = (given, value, path, depth) => {
      if ((steps += 1) > 2000 || depth > 20) throw tooMuch;
      const part = resolve(given);
      if (part === true) return [];
      if (part === false) return [{ path, keyword: 'false', message: 'must not be there', weight: 1 }];
      if (!Object.keys(part).every((key) => isRead(part, key))) isSure = false;
      const found = [];
      const add = (keyword, message, weight, at = path) => found.push({ path: at, keyword, message, weight });
      const type = typeOf(value);
      if (hasOwn(part, 'type')) {
        const types = [part.type].flat();
        if (!types.includes(type) && !(type === 'integer' && types.includes('number'))) {
          return [{ path, keyword: 'type', types, message: reasons.type(types), weight: depth ? 20 : 1000 }];
        }
      }
      const text = ['object', 'array'].includes(type) ? undefined : stringify(value);
      const isOther = (one) => {
        if (text !== undefined || typeof one !== 'object' || one === null) return stringify(one) !== text;
        // Objects and arrays are not compared here.
        isSure = false;
        return false;
      };
      if (hasOwn(part, 'const') && isOther(part.const)) add('const', reasons.const(part.const) ?? 'must be another value', 50);
      if (hasOwn(part, 'enum') && part.enum.every(isOther)) add('enum', reasons.enum(part.enum) ?? 'must be another value', 50);
      for (const keyword of keywordsFor[type === 'integer' ? 'number' : type] ?? []) {
        if (!hasOwn(part, keyword) || !isRead(part, keyword)) continue;
        const isWrong = keyword === 'format' ? !formats[part.format]?.(value) : fails[keyword](value, part[keyword]);
        if (isWrong) add(keyword, reasons[keyword](part[keyword]), 1);
      }
      const within = (part, key) => found.push(...misfits(part, value[key], path + '/' + escape(key), depth + 1));
      if (type === 'object') {
        const properties = part.properties ?? {};
        for (const name of part.required ?? []) {
          if (!hasOwn(value, name)) add('required', 'must be there', 2, path + '/' + escape(name));
        }
        for (const key of Object.keys(value)) {
          if ((steps += 1) > 2000) throw tooMuch;
          if (hasOwn(properties, key)) within(properties[key], key);
          else if (hasOwn(part, 'additionalProperties') && !hasOwn(part, 'patternProperties')) within(part.additionalProperties, key);
        }
      }
      if (type === 'array') {
        const first = part.prefixItems ?? [];
        for (const key of value.keys()) {
          if (key < first.length) within(first[key], key);
          else if (hasOwn(part, 'items')) within(part.items, key);
        }
      }
      if (hasOwn(part, '$ref')) found.push(...misfits({ $ref: part.$ref }, value, path, depth));
      for (const one of part.allOf ?? []) found.push(...misfits(one, value, path, depth));
      for (const keyword of ['anyOf', 'oneOf']) {
        if (!hasOwn(part, keyword)) continue;
        const all = part[keyword].map((one) => misfits(one, value, path, depth + 1));
        const fitting = all.filter((one) => !one.length);
        if (!fitting.length) add(keyword, reasons[keyword](), 5);
        else if (fitting.length > 1 && keyword === 'oneOf') isSure = false;
      }
      return found;
    };
    const all = alternatives.map((given, i) => {
      const list = misfits(given, value, path, 0);
      const { title } = resolve(given);
      const name = typeof title === 'string' && title.length <= 100 ? stringify(title) : 'number ' + (i + 1);
      return { name, list, weight: list.reduce((sum, { weight }) => sum + weight, 0) };
    });
    const fitting = all.filter(({ list }) => !list.length).map(({ name }) => name);
    if (fitting.length > 1 && keyword === 'oneOf' && isSure) {
      const names = fitting.slice(0, 5);
      return 'must fit only one of the alternatives, and fits ' + names.slice(0, -1).join(', ') + ' and ' + names.at(-1);
    }
    if (fitting.length) return undefined;
    const firsts = all.map(({ list }) => list[0]);
    if (firsts.every(({ keyword, weight }) => keyword === 'type' && weight === 1000)) {
      return reasons.type([...new Set(firsts.flatMap(({ types }) => types))]);
    }
    const isConstant = (one) => hasOwn(one, 'const') && short(one.const) !== undefined;
    if (alternatives.length <= 20 && alternatives.every((one) => isConstant(resolve(one)))) {
      return reasons.enum(alternatives.map((one) => resolve(one).const)) ?? 'must fit one of the alternatives';
    }
    const nearest = all.reduce((best, one) => (one.weight < best.weight ? one : best));
    const [reason, ...others] = nearest.list.toSorted((a, b) => b.weight - a.weight);
    const where = reason.path === path ? 'it ' : reason.path + ' ';
    const more = others.length ? ', with ' + plural(others.length, 'more violation', 'more violations') : '';
    const message = 'must fit one of ' + all.length + ' alternatives: the nearest is ' + nearest.name + ', where ' + where + reason.message + more;
    return message.length > 900 ? undefined : message;
  };
  const valueAt = (value, path) => {
    for (const key of path.split('/').slice(1).map(unescape)) value = value[key];
    return value;
  };

  const reasonOf = (schema, formats, value, path, location) => {
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
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      try {
        const explained = explain(schema, formats, keyword, part, valueAt(value, path), path);
        if (explained !== undefined) return explained;
      } catch (error) {
        if (error !== tooMuch && !/overflow|Maximum call stack/.test(String(error))) throw error;
      }
    }
    const known = Object.hasOwn(reasons, keyword) ? reasons[keyword](part) : undefined;
    return known ?? 'does not fit the schema';
  };
  return (check) => {
    const [validate, schemaText, formats] = check;
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
      const path = first.instanceLocation.slice(1);
      return violation(path, reasonOf(parse(schemaText), formats ?? {}, value, path, first.keywordLocation));
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
