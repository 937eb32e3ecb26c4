import { checkSegment, httpUrl } from './address.ts';
import { PluginEditorError } from './errors.ts';
import { parseIdent } from './ident.ts';

/** What decides what is fetched: the element's properties by name, with their defaults; empty means none. */
export const DEFAULTS = {
  editorUrl: '',
  builder: '',
  ident: '',
  namespace: 'default',
  fn: '',
  template: '',
  tokenEndpoint: '',
  tokenMethod: 'post' as 'post' | 'get',
  credentials: 'same-origin' as RequestCredentials,
  tokenDelivery: 'url' as 'url' | 'message',
  loading: 'eager' as 'eager' | 'lazy',
  preload: false,
  timeout: 15_000,
};

/** What can be used: checked, defaults filled in, `editorUrl` absolute. */
export type Config = typeof DEFAULTS & {
  /** What the token endpoint is relative to. It stays as it was set, so that a function in its place is no change. */
  base: string;
};

/** What the page set, unchecked. */
export type RawConfig = { [Name in keyof typeof DEFAULTS]?: unknown } & {
  /** Takes the place of `tokenEndpoint`. */
  fetchToken?: unknown;
};

/** The words that an attribute knows, its default first. */
const WORDS = {
  tokenMethod: ['post', 'get'],
  credentials: ['same-origin', 'omit', 'include'],
  tokenDelivery: ['url', 'message'],
  loading: ['eager', 'lazy'],
} as const;

/** The attribute that sets a property: `editorUrl` is `editor-url`. */
export const attributeOf = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());

/** Names of the attributes without which the element does nothing, as far as they are missing. */
export const missing = (raw: RawConfig): string[] =>
  (['editorUrl', 'builder', 'ident', 'fn', 'tokenEndpoint'] as const)
    .filter((name) => !raw[name] && !(name === 'tokenEndpoint' && raw.fetchToken))
    .map(attributeOf);

/**
 * Checks what the page set. Nothing must be `missing`.
 * @param base what relative addresses are relative to
 * @throws PluginEditorError with code `config` that names the attribute and says what it must be.
 */
export function checkConfig(raw: RawConfig, base: string): Config {
  const config = { base } as Config & Record<string, unknown>;
  for (const [name, value] of Object.entries(DEFAULTS)) config[name] = raw[name as 'fn'] ?? (value || '');
  try {
    const { environment, tenant } = parseIdent(checkSegment('ident', config.ident));
    checkSegment('ident', environment);
    checkSegment('ident', tenant);
    config.namespace ||= DEFAULTS.namespace;
    checkSegment('namespace', config.namespace);
    checkSegment('fn', config.fn);
    if (config.template) checkSegment('template', config.template);
    // Not resolved against the page: the builder's address is for the editor, which lives elsewhere.
    httpUrl('builder', config.builder);
    config.editorUrl = httpUrl('editor-url', config.editorUrl, base).href;
    if (!raw.fetchToken) httpUrl('token-endpoint', config.tokenEndpoint, base);
    for (const [name, words] of Object.entries(WORDS)) {
      // As in HTML: case does not matter, and an empty attribute is one that is not set.
      const given = ((config[name] as string) || words[0]).toLowerCase();
      const word = words.find((one) => one === given);
      if (!word) {
        throw new TypeError(`${attributeOf(name)} must be ${words.join(' or ')}`);
      }
      config[name] = word;
    }
    // A timer cannot be set for longer; it would fire at once.
    if (!(config.timeout > 0 && config.timeout < 2 ** 31)) {
      throw new TypeError('timeout must be a number of milliseconds above 0 and below 2 ** 31');
    }
    return config;
  } catch (error) {
    throw new PluginEditorError('config', (error as Error).message);
  }
}

/** The address of an editor that may load ahead of any plugin, or `undefined`. */
export function preloadUrl(
  { preload, tokenDelivery, editorUrl }: RawConfig,
  base: string,
): string | undefined {
  if (!preload || !/^message$/i.test(tokenDelivery as string) || !editorUrl) return undefined;
  try {
    return httpUrl('editor-url', editorUrl as string, base).href;
  } catch {
    // Said when there is a plugin to open; nothing is wrong before that.
    return undefined;
  }
}
