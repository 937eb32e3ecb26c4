import { longestRanked, maxRanked } from './intl-host.ts';

/**
 * Source of a function that runs in a fresh engine before any plugin, and makes `Intl` of the host's function `intl`. A formatter
 * is the text that names its class, its locales and its options: only those of known names are read, once, and as texts. So it
 * needs no state in the host, and none of one run can be seen in another.
 *
 * `intl(operation, formatter, …values)` returns a text: `=` and the answer, `R` or `T` and the message of a RangeError or a
 * TypeError, or `!` once the run has to end.
 */
export const guestIntl = String.raw`(intl) => {
  'use strict';
  const { defineProperty } = Object;
  const method = (owner, name, value) => defineProperty(owner, name, { value, writable: true, configurable: true });
  const ask = (operation, formatter, ...values) => {
    const answer = intl(operation, formatter, ...values);
    const kind = answer[0];
    if (kind === '=') return answer.slice(1);
    // The engine ends the run at the next turn of a loop, in a way that no plugin can catch.
    while (kind === '!');
    throw new (kind === 'T' ? TypeError : RangeError)(answer.slice(1));
  };
  const textFrom = (value) => {
    if (typeof value === 'symbol') throw new TypeError('A symbol is no text.');
    return String(value);
  };
  const maxLocales = 100;
  // A comma is between locales, a line break ends them, and no locale at all is the default.
  const localeOf = (locale) => {
    if (locale === '' || locale.includes(',') || locale.includes('\n')) throw new RangeError('Incorrect locale information provided');
    return locale;
  };
  const localesOf = (locales) => {
    if (locales === undefined) return '';
    if (typeof locales === 'string') return localeOf(locales);
    if (locales === null) throw new TypeError('Locales are a text or a list of texts, not null.');
    const list = Object(locales);
    const count = Math.trunc(Number(list.length)) || 0;
    if (count > maxLocales) throw new RangeError('At most ' + maxLocales + ' locales can be named, and not ' + count + '.');
    const all = [];
    for (let at = 0; at < count; at++) {
      if (!(at in list)) continue;
      const locale = list[at];
      if (typeof locale !== 'string' && (typeof locale !== 'object' || locale === null)) throw new TypeError('A locale is a text, such as "de-DE".');
      all.push(localeOf(String(locale)));
    }
    return all.join(',');
  };
  // A name with "!" is that of a boolean, one with "#" that of a number, and "useGrouping" may be a boolean or a text.
  const readOptions = (options, names) => {
    if (options === undefined) return '';
    if (options === null) throw new TypeError('Options are an object, not null.');
    let text = '';
    for (let at = 0; at < names.length; at++) {
      const { name, kind } = names[at];
      const value = options[name];
      if (value === undefined) continue;
      const isBoolean = kind === '!' || (kind === '?' && (typeof value === 'boolean' || !value));
      const read = isBoolean ? String(Boolean(value)) : kind === '#' ? String(+value) : textFrom(value);
      text += '\n' + (isBoolean ? '!' : '') + name + '=' + read.replaceAll('\n', ' ');
    }
    return text;
  };
  const digits = ['#minimumIntegerDigits', '#minimumFractionDigits', '#maximumFractionDigits', '#minimumSignificantDigits',
    '#maximumSignificantDigits', '#roundingIncrement', 'roundingMode', 'roundingPriority', 'trailingZeroDisplay'];
  const optionNames = {
    Collator: ['usage', 'localeMatcher', 'collation', '!numeric', 'caseFirst', 'sensitivity', '!ignorePunctuation'],
    DateTimeFormat: ['localeMatcher', 'calendar', 'numberingSystem', '!hour12', 'hourCycle', 'timeZone', 'weekday', 'era', 'year', 'month',
      'day', 'dayPeriod', 'hour', 'minute', 'second', '#fractionalSecondDigits', 'timeZoneName', 'formatMatcher', 'dateStyle', 'timeStyle'],
    ListFormat: ['localeMatcher', 'type', 'style'],
    NumberFormat: ['localeMatcher', 'numberingSystem', 'style', 'currency', 'currencyDisplay', 'currencySign', 'unit', 'unitDisplay',
      'notation', ...digits, 'compactDisplay', '?useGrouping', 'signDisplay'],
    PluralRules: ['localeMatcher', 'type', 'notation', 'compactDisplay', ...digits],
    RelativeTimeFormat: ['localeMatcher', 'numberingSystem', 'style', 'numeric'],
  };
  const marked = (names) => names.map((name) => /^\w/.test(name) ? { name, kind: '' } : { name: name.slice(1), kind: name[0] });
  for (const name of Object.keys(optionNames)) optionNames[name] = marked(optionNames[name]);
  const localeMatcher = marked(['localeMatcher']);
  const textOf = (name, locales, options, variant = '') =>
    name + variant + '\n' + localesOf(locales) + readOptions(options, optionNames[name]);

  const Intl = {};
  defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
  // The text of each formatter, and the function that it gives out.
  const texts = new WeakMap();
  const bound = new WeakMap();
  const getText = WeakMap.prototype.get.bind(texts);
  const formatterOf = (self, name) => {
    const text = typeof self === 'object' && self !== null ? getText(self) : undefined;
    if (text === undefined || !text.startsWith(name)) throw new TypeError('This is no Intl.' + name + '.');
    return text;
  };
  const define = (name, isFunction, methods) => {
    const type = {
      [name]: function (locales, options) {
        if (new.target === undefined) {
          if (isFunction) return new type(locales, options);
          throw new TypeError('Write "new Intl.' + name + '(…)".');
        }
        if (options !== undefined && typeof options !== 'object' && typeof options !== 'function' && (name === 'ListFormat'))
          throw new TypeError('Options are an object.');
        const text = textOf(name, locales, options);
        ask('check', text);
        texts.set(this, text);
      },
    }[name];
    defineProperty(type, 'length', { value: 0, configurable: true });
    defineProperty(type, 'prototype', { writable: false });
    defineProperty(type.prototype, Symbol.toStringTag, { value: 'Intl.' + name, configurable: true });
    method(type, 'supportedLocalesOf', function supportedLocalesOf(locales, options) {
      return JSON.parse(ask('supported', name + '\n' + localesOf(locales) + readOptions(options, localeMatcher)));
    });
    method(type.prototype, 'resolvedOptions', function resolvedOptions() {
      return JSON.parse(ask('resolved', formatterOf(this, name)));
    });
    for (const [key, value] of Object.entries(methods)) method(type.prototype, key, value);
    method(Intl, name, type);
    return type;
  };
  const getter = (type, name, make) => {
    defineProperty(type.prototype, name, {
      get() {
        const text = formatterOf(this, type.name);
        if (!bound.has(this)) bound.set(this, make(text));
        return bound.get(this);
      },
      configurable: true,
    });
  };

  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  const primitiveOf = (value) => {
    const convert = value[Symbol.toPrimitive] ?? undefined;
    if (convert !== undefined) {
      const converted = convert.call(value, 'number');
      if (!isObject(converted)) return converted;
    } else {
      for (const name of ['valueOf', 'toString']) {
        const converted = typeof value[name] === 'function' ? value[name]() : value;
        if (!isObject(converted)) return converted;
      }
    }
    throw new TypeError('The value cannot be converted to a number.');
  };
  // A number goes as it is, and a text or a BigInt as its digits, so that none are lost.
  const numberOf = (value) => {
    const primitive = isObject(value) ? primitiveOf(value) : value;
    if (typeof primitive === 'bigint') return String(primitive);
    if (typeof primitive === 'string') return decimal(primitive);
    return Number(primitive);
  };
  const decimal = (text) => /^\s*[-+]?\d+(?:\.\d+)?\s*$/.test(text) ? text.trim() : Number(text);
  const rangeOf = (first, last, read) => {
    if (first === undefined || last === undefined) throw new TypeError('A range has a start and an end.');
    return [read(first), read(last)];
  };

  const NumberFormat = define('NumberFormat', true, {
    formatToParts(value) { return JSON.parse(ask('parts', formatterOf(this, 'NumberFormat'), numberOf(value))); },
    formatRange(first, last) { return ask('range', formatterOf(this, 'NumberFormat'), ...rangeOf(first, last, numberOf)); },
    formatRangeToParts(first, last) {
      return JSON.parse(ask('rangeParts', formatterOf(this, 'NumberFormat'), ...rangeOf(first, last, numberOf)));
    },
  });
  getter(NumberFormat, 'format', (text) => (value) => ask('format', text, numberOf(value)));

  const toNumber = (value) => +value;
  const timeOf = (date) => date === undefined ? Date.now() : +date;
  const DateTimeFormat = define('DateTimeFormat', true, {
    formatToParts(date) { return JSON.parse(ask('parts', formatterOf(this, 'DateTimeFormat'), timeOf(date))); },
    formatRange(first, last) { return ask('range', formatterOf(this, 'DateTimeFormat'), ...rangeOf(first, last, toNumber)); },
    formatRangeToParts(first, last) {
      return JSON.parse(ask('rangeParts', formatterOf(this, 'DateTimeFormat'), ...rangeOf(first, last, toNumber)));
    },
  });
  getter(DateTimeFormat, 'format', (text) => (date) => ask('format', text, timeOf(date)));

  define('PluralRules', false, {
    select(value) { return ask('select', formatterOf(this, 'PluralRules'), +value); },
    selectRange(first, last) { return ask('selectRange', formatterOf(this, 'PluralRules'), ...rangeOf(first, last, toNumber)); },
  });

  define('RelativeTimeFormat', false, {
    format(value, unit) { return ask('format', formatterOf(this, 'RelativeTimeFormat'), +value, textFrom(unit)); },
    formatToParts(value, unit) {
      return JSON.parse(ask('parts', formatterOf(this, 'RelativeTimeFormat'), +value, textFrom(unit)));
    },
  });

  const listOf = (list) => {
    const all = [];
    if (list !== undefined) for (const item of list) {
      if (typeof item !== 'string') throw new TypeError('Intl.ListFormat formats texts, not a value of type ' + typeof item + '.');
      all.push(item);
    }
    return JSON.stringify(all);
  };
  define('ListFormat', false, {
    format(list) { return ask('format', formatterOf(this, 'ListFormat'), listOf(list)); },
    formatToParts(list) { return JSON.parse(ask('parts', formatterOf(this, 'ListFormat'), listOf(list))); },
  });

  /*
   * A call of the host takes some microseconds, and a sort compares the same texts again and again. So the texts that were compared
   * are ranked by the host, as soon as there are many, and ranked texts are compared here.
   */
  const firstBatch = 256, maxRanked = ${maxRanked}, longestRanked = ${longestRanked}, maxRankings = 10;
  const rankings = new Map();
  const comparisonBy = (text) => {
    const known = rankings.get(text);
    if (known) return known;
    let ranks = new Map();
    const waiting = new Set();
    // How often the host was asked since the last ranking, which costs as much as some of these calls for each text.
    let asked = 0;
    const compareUnranked = (one, other) => {
      const result = Number(ask('compare', text, '=' + one, '=' + other));
      for (const each of [one, other]) {
        if (each.length > longestRanked || ranks.has(each) || ranks.size + waiting.size >= maxRanked) continue;
        waiting.add(each);
      }
      asked += 1;
      if (waiting.size && asked >= firstBatch && asked >= (ranks.size + waiting.size) / 2) {
        const all = [...ranks.keys(), ...waiting];
        // In the order of the ranks, so that the next call finds most of the texts sorted.
        const order = JSON.parse(ask('ranks', text, JSON.stringify(all)));
        ranks = new Map();
        for (let at = 0; at < order.length; at += 2) ranks.set(all[order[at]], order[at + 1]);
        waiting.clear();
        asked = 0;
      }
      return result;
    };
    const compare = (one, other) => {
      if (one === other) return 0;
      const first = ranks.get(one);
      if (first === undefined) return compareUnranked(one, other);
      const second = ranks.get(other);
      if (second === undefined) return compareUnranked(one, other);
      return first < second ? -1 : first > second ? 1 : 0;
    };
    if (rankings.size >= maxRankings) rankings.clear();
    rankings.set(text, compare);
    return compare;
  };
  const Collator = define('Collator', true, {});
  getter(Collator, 'compare', (text) => {
    const compare = comparisonBy(text);
    return (one, other) => typeof one === 'string' && typeof other === 'string' ? compare(one, other) : compare(textFrom(one), textFrom(other));
  });

  method(Intl, 'getCanonicalLocales', (locales) => JSON.parse(ask('canonical', 'Collator\n' + localesOf(locales))));
  method(Intl, 'supportedValuesOf', (key) => JSON.parse(ask('values', 'Collator\n', textFrom(key))));
  method(globalThis, 'Intl', Intl);

  const formatNumber = (value, locales, options) => ask('format', textOf('NumberFormat', locales, options), value);
  const formatDate = (variant) => function (locales, options) {
    const time = Date.prototype.getTime.call(this);
    const text = textOf('DateTimeFormat', locales, options, variant);
    if (time === time) return ask('format', text, time);
    ask('check', text);
    return 'Invalid Date';
  };
  const named = (owner, name, length, value) => {
    defineProperty(value, 'name', { value: name, configurable: true });
    defineProperty(value, 'length', { value: length, configurable: true });
    method(owner, name, value);
  };
  const valueOfNumber = Number.prototype.valueOf, valueOfBigInt = BigInt.prototype.valueOf;
  named(Number.prototype, 'toLocaleString', 0, { toLocaleString(locales, options) { return formatNumber(valueOfNumber.call(this), locales, options); } }.toLocaleString);
  named(BigInt.prototype, 'toLocaleString', 0, { toLocaleString(locales, options) { return formatNumber(String(valueOfBigInt.call(this)), locales, options); } }.toLocaleString);
  const dateMethods = { toLocaleString: ':all', toLocaleDateString: ':date', toLocaleTimeString: ':time' };
  for (const [name, variant] of Object.entries(dateMethods)) named(Date.prototype, name, 0, formatDate(variant));
  const joined = (list, count, locales, options) => {
    let text = '';
    for (let at = 0; at < count; at++) {
      const value = list[at];
      text += (at ? ',' : '') + (value === undefined || value === null ? '' : String(value.toLocaleString(locales, options)));
    }
    return text;
  };
  // A list that is in itself has an empty text there, as by "join".
  const visited = new WeakSet();
  named(Array.prototype, 'toLocaleString', 0, function (locales, options) {
    const list = Object(this);
    if (visited.has(list)) return '';
    visited.add(list);
    try {
      return joined(list, Math.min(Math.max(Math.trunc(Number(list.length)) || 0, 0), 2 ** 53 - 1), locales, options);
    } finally {
      visited.delete(list);
    }
  });
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const lengthOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, 'length').get;
  named(TypedArray.prototype, 'toLocaleString', 0, function (locales, options) {
    return joined(this, lengthOf.call(this), locales, options);
  });
  // The last one without options, because a sort asks for the same again and again.
  let lastLocale, lastCompare;
  named(String.prototype, 'localeCompare', 1, function (other, locales, options) {
    if (this === undefined || this === null) throw new TypeError('String.prototype.localeCompare is called on a text.');
    let compare = options === undefined && locales === lastLocale ? lastCompare : undefined;
    if (compare === undefined) {
      compare = comparisonBy(textOf('Collator', locales, options));
      if (options === undefined && (locales === undefined || typeof locales === 'string')) [lastLocale, lastCompare] = [locales, compare];
    }
    return typeof this === 'string' && typeof other === 'string' ? compare(this, other) : compare(textFrom(this), textFrom(other));
  });
  for (const [name, plain] of [['toLocaleUpperCase', String.prototype.toUpperCase], ['toLocaleLowerCase', String.prototype.toLowerCase]]) {
    named(String.prototype, name, 0, function (locales) {
      if (this === undefined || this === null) throw new TypeError('String.prototype.' + name + ' is called on a text.');
      return locales === undefined ? plain.call(this) : ask(name, 'Collator\n' + localesOf(locales), '=' + this);
    });
  }
}`;
