import { checkSegment, httpUrl } from './url.ts';
import {
  ATTRIBUTES,
  type AttributeName,
  type AttributeValues,
  attributeOf,
  attributeRows,
  namesWith,
} from './attributes.ts';
import { PluginEditorError } from './errors.ts';
import { parseIdent } from './ident.ts';
import { type InitialSource, copyInitialSource } from './initial-source.ts';

/** The checked values of all attributes, with defaults filled in and `editorUrl` absolute. */
export type Config = AttributeValues & {
  /** What `tokenEndpoint` is relative to. That is not resolved here, because with `fetchToken` it need not be an address. */
  base: string;
  /** A copy of what the page set, as it was when the attributes were read. */
  initialSource: InitialSource | undefined;
};

/** What the page set, unchecked. */
export type RawConfig = { [Name in AttributeName]?: unknown } & {
  /** Takes the place of `tokenEndpoint`. */
  fetchToken?: unknown;
  initialSource?: unknown;
};

/** The names of the required attributes that are missing. */
export const missingAttributes = (raw: RawConfig): string[] =>
  attributeRows
    .filter(([name, { required }]) => required && !raw[name] && !(name === 'tokenEndpoint' && raw.fetchToken))
    .map(([name]) => attributeOf(name));

/**
 * Checks what the page set. The caller has made sure that no attribute is missing.
 * @param base what relative addresses are relative to
 * @throws PluginEditorError with code `config` that names the attribute and says what it must be.
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

/** As in HTML, case does not matter. */
function checkKeyword(name: AttributeName, value: unknown, keywords: readonly string[]): string {
  const keyword = String(value).toLowerCase();
  if (!keywords.includes(keyword))
    throw new TypeError(`${attributeOf(name)} must be ${keywords.join(' or ')}`);
  return keyword;
}

/** The address of the editor that is to load before there is a plugin; `undefined` unless the attributes ask for that. */
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

/** What the attributes ask for: a config, the error that says why they are none, or `undefined` while one is missing. */
export type ConfigResult = Config | PluginEditorError | undefined;

/** Whether the attributes ask for something that can be launched. */
export const isConfig = (result: ConfigResult): result is Config => !!result && !(result instanceof Error);

/** A change of one of these needs a new token. */
const TOKEN_ATTRIBUTES = namesWith('token');

/** A change of one of these ends what is open. */
const RESTARTING_ATTRIBUTES = [...TOKEN_ATTRIBUTES, ...namesWith('frame', 'open')];

/** The controller acts upon a change of one of these. */
const WATCHED_ATTRIBUTES = [...RESTARTING_ATTRIBUTES, ...namesWith('later')];

/** Reads what the attributes ask for. `base` is what relative addresses are relative to. */
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
 */
export function requireConfig(raw: RawConfig, base: string): Config {
  const result = readConfig(raw, base);
  if (isConfig(result)) return result;
  throw (
    result ?? new PluginEditorError('config', `<plugin-editor> lacks: ${missingAttributes(raw).join(', ')}`)
  );
}

/** The attributes that ask for something else than what is shown or loading; all of them where nothing can be shown. */
export const changedAttributes = (result: ConfigResult, shown: Config | undefined): AttributeName[] =>
  RESTARTING_ATTRIBUTES.filter((name) => !isConfig(result) || result[name] !== shown?.[name]);

/** Whether one of these changes needs a new token. */
export const needsToken = (changed: AttributeName[]): boolean =>
  changed.some((name) => TOKEN_ATTRIBUTES.includes(name));

/**
 * The values whose change the controller acts upon. Of `fetchToken` it is only whether there is one, because React makes a
 * new function at every render.
 */
export const watchedValues = (raw: RawConfig): unknown[] => [
  !raw.fetchToken,
  ...WATCHED_ATTRIBUTES.map((name) => raw[name]),
];
