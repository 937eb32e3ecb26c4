import { checkSegment, httpUrl, parseIdent } from './url.ts';
import { PluginEditorError } from './errors.ts';
import { isRecord, isText } from './untrusted.ts';
import type { InitialSource } from './messages.ts';

/**
 * What a change of an attribute leads to while an editor is open. The first three may cost unsaved work. Where several
 * attributes change together, the effect that is named first here decides.
 *
 * - `token`: the token is for something else now, so a new one is fetched, and the plugin is opened with it.
 * - `frame`: the editor is loaded in a new frame. A token that is still valid is kept.
 * - `open`: the plugin is opened anew, in the same frame if the editor can do that. A token that is still valid is kept.
 * - `configure`: the value is sent to the running editor, and nothing is loaded anew.
 * - `iframe`: the attribute of the `<iframe>` is set, which takes effect as in any `<iframe>`.
 * - `later`: nothing happens at once. The value is read when it is next needed.
 */
export type Effect = 'token' | 'frame' | 'open' | 'configure' | 'iframe' | 'later';

interface Attribute {
  /** The property's value while it is not set; empty text means none. Its type is the type of the property. */
  readonly initial: string | number | boolean;
  readonly effect: Effect;
  /** Without a value the element stays `idle`. */
  readonly required?: true;
  /** The only values that it takes; any if left out. Case does not matter, as in HTML. */
  readonly keywords?: readonly string[];
}

/**
 * Every attribute of `<plugin-editor>`, by its property. An attribute that is added here must also be declared in the
 * element's class, with its documentation; the compiler says so.
 */
export const ATTRIBUTES = {
  editorUrl: { initial: '', effect: 'frame', required: true },
  builder: { initial: '', effect: 'open', required: true },
  ident: { initial: '', effect: 'token', required: true },
  namespace: { initial: 'default', effect: 'token' },
  fn: { initial: '', effect: 'token', required: true },
  template: { initial: '', effect: 'open' },
  // `fetchToken` may stand in for it.
  tokenEndpoint: { initial: '', effect: 'token', required: true },
  tokenMethod: { initial: 'post', effect: 'later', keywords: ['post', 'get'] },
  credentials: { initial: 'same-origin', effect: 'later', keywords: ['same-origin', 'omit', 'include'] },
  tokenDelivery: { initial: 'url', effect: 'frame', keywords: ['url', 'message'] },
  loading: { initial: 'eager', effect: 'later', keywords: ['eager', 'lazy'] },
  preload: { initial: false, effect: 'later' },
  timeout: { initial: 15_000, effect: 'later' },
  readOnly: { initial: false, effect: 'configure' },
  locale: { initial: '', effect: 'configure' },
  sandbox: {
    initial:
      'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox',
    effect: 'iframe',
  },
  allow: { initial: 'clipboard-read; clipboard-write', effect: 'iframe' },
  referrerpolicy: { initial: 'origin', effect: 'iframe' },
  label: { initial: '', effect: 'iframe' },
  unguarded: { initial: false, effect: 'later' },
} as const satisfies Record<string, Attribute>;

type AttributeTable = typeof ATTRIBUTES;

/** A property that has an attribute. */
export type AttributeName = keyof AttributeTable;

type ValueOf<Row extends Attribute> = Row extends { keywords: readonly (infer Keyword)[] }
  ? Keyword
  : Row['initial'] extends string
    ? string
    : Row['initial'] extends number
      ? number
      : boolean;

/** The attributes whose change has this effect. @internal */
export type NamesWith<Wanted extends Effect> = {
  [Name in AttributeName]: AttributeTable[Name]['effect'] extends Wanted ? Name : never;
}[AttributeName];

/** The values of all attributes, checked and with their defaults. */
export type AttributeValues = { -readonly [Name in AttributeName]: ValueOf<AttributeTable[Name]> };

/** The properties as the element declares them: an attribute that is taken away leaves `null`, but for flags. */
export type AttributeProperties = {
  [Name in AttributeName]:
    ValueOf<AttributeTable[Name]> | (ValueOf<AttributeTable[Name]> extends boolean ? never : null);
};

/** The rows of the table. @internal */
export const attributeRows = Object.entries(ATTRIBUTES) as [AttributeName, Attribute][];

/** The properties whose change has one of these effects. */
const namesWith = (...effects: Effect[]): AttributeName[] =>
  attributeRows.filter(([, { effect }]) => effects.includes(effect)).map(([name]) => name);

/** The attribute that sets a property: `editorUrl` is `editor-url`. @internal */
export const attributeOf = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());

/** The checked values of all attributes, with defaults filled in and `editorUrl` absolute. @internal */
export type Config = AttributeValues & {
  /** What `tokenEndpoint` is relative to. That is not resolved here, because with `fetchToken` it need not be an address. */
  base: string;
  /** A copy of what the page set, as it was when the attributes were read. */
  initialSource: InitialSource | undefined;
};

/** What the page set, unchecked. @internal */
export type RawConfig = { [Name in AttributeName]?: unknown } & {
  /** Takes the place of `tokenEndpoint`. */
  fetchToken?: unknown;
  initialSource?: unknown;
};

/** The names of the required attributes that are missing. @internal */
export const missingAttributes = (raw: RawConfig): string[] =>
  attributeRows
    .filter(([name, { required }]) => required && !raw[name] && !(name === 'tokenEndpoint' && raw.fetchToken))
    .map(([name]) => attributeOf(name));

/**
 * Checks what the page set. The caller has made sure that no attribute is missing.
 * @param base what relative addresses are relative to
 * @throws PluginEditorError with code `config` that names the attribute and says what it must be.
 * @internal
 */
export function checkConfig(raw: RawConfig, base: string): Config {
  const values: Record<string, unknown> = {};
  try {
    for (const [name, { initial, keywords }] of attributeRows) {
      // As in HTML, an empty keyword is one that is not set.
      values[name] = keywords ? checkKeyword(name, raw[name] || initial, keywords) : (raw[name] ?? initial);
    }
    // Every attribute has a value now. The cast does not prove its type: values whose type matters are checked above or below.
    const config: Config = { ...(values as AttributeValues), base, initialSource: undefined };
    // The tenant need not be checked: it is not empty and holds no period.
    checkSegment('ident', parseIdent(checkSegment('ident', config.ident)).environment);
    config.namespace ||= ATTRIBUTES.namespace.initial;
    checkSegment('namespace', config.namespace);
    checkSegment('fn', config.fn);
    if (config.template) checkSegment('template', config.template);
    // It has to be absolute, because the editor that uses it is a page of another origin.
    httpUrl('builder', config.builder);
    config.editorUrl = httpUrl('editor-url', config.editorUrl, base).href;
    if (!raw.fetchToken) httpUrl('token-endpoint', config.tokenEndpoint, base);
    // A timer with a longer delay would fire at once.
    if (!(config.timeout > 0 && config.timeout < 2 ** 31)) {
      throw new TypeError('timeout must be a number of milliseconds above 0 and below 2 ** 31');
    }
    config.initialSource = copyInitialSource(raw.initialSource);
    return config;
  } catch (error) {
    throw new PluginEditorError('config', (error as Error).message);
  }
}

/** How long the source may be as JSON, in bytes of UTF-8. */
const MAX_SOURCE_BYTES = 2 ** 20;

const isInitialSource = (value: unknown): value is InitialSource =>
  isRecord(value) &&
  isText(value['contents']) &&
  isText(value['lang']) &&
  value['lang'] !== '' &&
  (value['tests'] === undefined || (Array.isArray(value['tests']) && value['tests'].every(isRecord)));

/**
 * Copies what the page set as `initialSource`, so that later changes to the object change nothing.
 * @throws TypeError when it is not such a source, cannot be written as JSON, or is larger than 1 MiB.
 */
function copyInitialSource(given: unknown): InitialSource | undefined {
  if (given === undefined || given === null) return undefined;
  try {
    const json = JSON.stringify(given);
    const copy: unknown = JSON.parse(json);
    if (isInitialSource(copy) && new TextEncoder().encode(json).length <= MAX_SOURCE_BYTES) return copy;
  } catch {
    // A cycle, a bigint or a function cannot be written as JSON. That is reported as any other wrong value is.
  }
  throw new TypeError('initialSource must be { contents, lang, tests? }, at most 1 MiB of JSON');
}

/** As in HTML, case does not matter. */
function checkKeyword(name: AttributeName, value: unknown, keywords: readonly string[]): string {
  const keyword = String(value).toLowerCase();
  if (!keywords.includes(keyword))
    throw new TypeError(`${attributeOf(name)} must be ${keywords.join(' or ')}`);
  return keyword;
}

/** The address of the editor that is to load before there is a plugin; `undefined` unless the attributes ask for that. @internal */
export function preloadUrl(
  { preload, tokenDelivery, editorUrl }: RawConfig,
  base: string,
): string | undefined {
  if (!preload || !/^message$/i.test(tokenDelivery as string) || !editorUrl) return undefined;
  try {
    return httpUrl('editor-url', editorUrl as string, base).href;
  } catch {
    // A wrong address is reported when there is a plugin to open.
    return undefined;
  }
}

/** What the attributes ask for: a config, the error that says why they are none, or `undefined` while one is missing. @internal */
export type ConfigResult = Config | PluginEditorError | undefined;

/** Whether the attributes ask for something that can be launched. @internal */
export const isConfig = (result: ConfigResult): result is Config => !!result && !(result instanceof Error);

/** A change of one of these needs a new token. */
const TOKEN_ATTRIBUTES = namesWith('token');

/** A change of one of these ends what is open. */
const RESTARTING_ATTRIBUTES = [...TOKEN_ATTRIBUTES, ...namesWith('frame', 'open')];

/** The controller acts upon a change of one of these. */
const WATCHED_ATTRIBUTES = [...RESTARTING_ATTRIBUTES, ...namesWith('later')];

/** Reads what the attributes ask for. `base` is what relative addresses are relative to. @internal */
export function readConfig(raw: RawConfig, base: string): ConfigResult {
  try {
    return missingAttributes(raw).length ? undefined : checkConfig(raw, base);
  } catch (error) {
    return error as PluginEditorError;
  }
}

/**
 * Reads what the attributes ask for, where nothing can be done without it.
 * @throws PluginEditorError with code `config` that says what is missing or wrong.
 * @internal
 */
export function requireConfig(raw: RawConfig, base: string): Config {
  const result = readConfig(raw, base);
  if (isConfig(result)) return result;
  throw (
    result ?? new PluginEditorError('config', `<plugin-editor> lacks: ${missingAttributes(raw).join(', ')}`)
  );
}

/** The attributes that ask for something else than what is shown or loading; all of them where nothing can be shown. @internal */
export const changedAttributes = (result: ConfigResult, shown: Config | undefined): AttributeName[] =>
  RESTARTING_ATTRIBUTES.filter((name) => !isConfig(result) || result[name] !== shown?.[name]);

/** Whether one of these changes needs a new token. @internal */
export const needsToken = (changed: AttributeName[]): boolean =>
  changed.some((name) => TOKEN_ATTRIBUTES.includes(name));

/**
 * The values whose change the controller acts upon. Of `fetchToken` it is only whether there is one, because React makes a
 * new function at every render.
 * @internal
 */
export const watchedValues = (raw: RawConfig): unknown[] => [
  !raw.fetchToken,
  ...WATCHED_ATTRIBUTES.map((name) => raw[name]),
];
