import { LRUCache } from 'lru-cache';
import { mebibyte } from '../../units.ts';

/** A value that a plugin passes: a number, or a text. */
type Value = string | number;

type Formatter = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;
type FormatterClass = {
  new (locales: readonly string[], options: Record<string, unknown>): object;
  supportedLocalesOf(locales: readonly string[], options: object): string[];
};

const classes: ReadonlyMap<string, FormatterClass> = new Map(
  Object.entries({
    Collator: Intl.Collator,
    DateTimeFormat: Intl.DateTimeFormat,
    ListFormat: Intl.ListFormat,
    NumberFormat: Intl.NumberFormat,
    PluralRules: Intl.PluralRules,
    RelativeTimeFormat: Intl.RelativeTimeFormat,
  } as unknown as Record<string, FormatterClass>),
);

/** The locale of a plugin that names none: the same on every machine. */
const defaultLocale = 'en-US';

/** The longest description of a formatter, and the longest number, in UTF-16 code units. */
const longestDescription = 2000;
const longestNumber = 1000;

/** The longest list, as JSON in UTF-16 code units. */
const longestList = 4 * mebibyte;

/** How many texts are ranked at once, and how long each may be. */
export const [maxRanked, longestRanked] = [16_384, 100];

// Of all programs in a runner. What a formatter holds is not in the memory of a run.
const formatters = new LRUCache<string, Formatter>({ max: 200 });

/** A formatter's description as `guest-intl.ts` writes it: class and variant, locales, and a line for each option. */
function parse(description: string) {
  if (description.length > longestDescription) {
    throw new RangeError(
      `Locales and options can have ${longestDescription} characters, and not ${description.length}.`,
    );
  }
  const [head = '', locales = '', ...lines] = description.split('\n');
  const [name = '', variant] = head.split(':');
  const options = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      const [key, value] = [line.slice(0, at), line.slice(at + 1)];
      return key.startsWith('!') ? [key.slice(1), value === 'true'] : [key, value];
    }),
  );
  const type = classes.get(name);
  if (!type) throw new TypeError(`There is no Intl.${name}.`);
  return { name, variant, locales: locales === '' ? [] : locales.split(','), options, type };
}

const dateOptions = ['weekday', 'year', 'month', 'day'];
const timeOptions = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];

/** Adds the parts that `Date.prototype.toLocaleString` and the like show where no options name any. */
function addDefaultParts(variant: string, options: Record<string, unknown>): void {
  const given =
    variant === 'date' ? dateOptions : variant === 'time' ? timeOptions : [...dateOptions, ...timeOptions];
  if (variant === 'date' && options['timeStyle'] !== undefined)
    throw new TypeError('"timeStyle" is an option of toLocaleString and toLocaleTimeString.');
  if (variant === 'time' && options['dateStyle'] !== undefined)
    throw new TypeError('"dateStyle" is an option of toLocaleString and toLocaleDateString.');
  if ([...given, 'dateStyle', 'timeStyle'].some((name) => options[name] !== undefined)) return;
  if (variant !== 'time') Object.assign(options, { year: 'numeric', month: 'numeric', day: 'numeric' });
  if (variant !== 'date') Object.assign(options, { hour: 'numeric', minute: 'numeric', second: 'numeric' });
}

/** The values of the options that have few, for messages. */
const optionValues: Readonly<Record<string, readonly string[]>> = {
  NumberFormat: ['decimal', 'percent', 'currency', 'unit'],
  ListFormat: ['long', 'short', 'narrow'],
  RelativeTimeFormat: ['long', 'short', 'narrow'],
};

function createFormatter(description: string): Formatter {
  const { name, variant, locales, options, type } = parse(description);
  if (name === 'DateTimeFormat') {
    options['timeZone'] ??= 'UTC';
    if (variant !== undefined) addDefaultParts(variant, options);
  }
  try {
    return new type(locales.length ? locales : [defaultLocale], options) as unknown as Formatter;
  } catch (error) {
    const values = optionValues[name];
    if (!(error instanceof RangeError) || !values || !error.message.endsWith('property style')) throw error;
    throw new RangeError(`${error.message}: it can be ${values.map((value) => `"${value}"`).join(', ')}`);
  }
}

function formatterFor(description: string): Formatter {
  const known = formatters.get(description);
  if (known) return known;
  const created = createFormatter(description);
  formatters.set(description, created);
  return created;
}

/** What a formatter formats: a list from its JSON, any other value as it is. */
function argument(description: string, value: Value): unknown {
  if (typeof value === 'number') return value;
  if (description.startsWith('ListFormat')) return listFrom(value);
  if (value.length > longestNumber && description.startsWith('NumberFormat'))
    throw new RangeError(`A number can have ${longestNumber} digits, and not ${value.length}.`);
  return value;
}

function listFrom(json: Value = ''): string[] {
  if (String(json).length > longestList) throw new RangeError('The list is too long.');
  return JSON.parse(String(json)) as string[];
}

function ranks(description: string, json: Value = ''): string {
  const texts = listFrom(json);
  if (texts.length > maxRanked || texts.some((text) => text.length > longestRanked))
    throw new RangeError('There is too much to rank.');
  return JSON.stringify(ranksOf(texts, (formatterFor(description) as unknown as Intl.Collator).compare));
}

/** For each text in the order of a collator, its place in `texts` and its rank; those that it holds for equal have the same. */
function ranksOf(texts: readonly string[], compare: (one: string, other: string) => number): number[] {
  const order = [...texts.keys()].toSorted((one, other) => compare(texts[one] ?? '', texts[other] ?? ''));
  let rank = 0;
  return order.flatMap((at, place) => {
    const before = order[place - 1];
    if (before !== undefined && compare(texts[before] ?? '', texts[at] ?? '') !== 0) rank += 1;
    return [at, rank];
  });
}

const localesOf = (description: string): string[] => Intl.getCanonicalLocales(parse(description).locales);

type Operation = (description: string, ...values: readonly Value[]) => string | number | undefined;

/** Calls a formatter's method of this name. `isJson`: whether its result goes to the plugin as JSON. */
const calls =
  (method: string, isJson = false): Operation =>
  (description, ...values) => {
    const formatter = formatterFor(description);
    const call = formatter[method];
    if (typeof call !== 'function') throw new TypeError(`There is no "${method}" here.`);
    const result = call.apply(
      formatter,
      values.map((value) => argument(description, value)),
    );
    return isJson ? JSON.stringify(result) : (result as string);
  };

const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries<Operation>({
    check: (description) => {
      formatterFor(description);
      return undefined;
    },
    resolved: calls('resolvedOptions', true),
    supported: (description) => {
      const { type, locales, options } = parse(description);
      return JSON.stringify(type.supportedLocalesOf(locales, options));
    },
    canonical: (description) => JSON.stringify(localesOf(description)),
    values: (_, key) => JSON.stringify(Intl.supportedValuesOf(key as 'unit')),
    format: calls('format'),
    parts: calls('formatToParts', true),
    range: calls('formatRange'),
    rangeParts: calls('formatRangeToParts', true),
    select: calls('select'),
    selectRange: calls('selectRange'),
    compare: (description, one, other) =>
      (formatterFor(description) as unknown as Intl.Collator).compare(
        String(one).slice(1),
        String(other).slice(1),
      ),
    ranks,
    toLocaleUpperCase: (description, text) => String(text).slice(1).toLocaleUpperCase(localesOf(description)),
    toLocaleLowerCase: (description, text) => String(text).slice(1).toLocaleLowerCase(localesOf(description)),
  }),
);

/**
 * Does for a plugin what `Intl` does, by ICU. Returns `=` and the answer, or `R` or `T` and the message of a RangeError or a
 * TypeError.
 */
export function answerIntl(operation: string, description: string, ...values: readonly Value[]): string {
  try {
    const work = operations.get(operation);
    if (!work) throw new TypeError(`There is no operation "${operation.slice(0, 50)}".`);
    const answer = work(description, ...values);
    return `=${answer ?? ''}`;
  } catch (error) {
    return `${error instanceof TypeError ? 'T' : 'R'}${error instanceof Error ? error.message : ''}`;
  }
}
