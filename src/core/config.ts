import { checkSegment, httpUrl } from './address.ts';
import { DEFAULT_NAMESPACE } from './editor-url.ts';
import { PluginEditorError } from './errors.ts';
import { parseIdent } from './ident.ts';
import { DEFAULT_TIMEOUT } from './request.ts';

type Raw = string | null | undefined;

/** What the page set on the element, unchecked. */
export interface RawConfig {
  editorUrl?: Raw;
  builder?: Raw;
  ident?: Raw;
  namespace?: Raw;
  fn?: Raw;
  template?: Raw;
  tokenEndpoint?: Raw;
  tokenMethod?: Raw;
  credentials?: Raw;
  tokenDelivery?: Raw;
  loading?: Raw;
  timeout?: number | null | undefined;
  /** Whether the page gave a function that gets tokens; `tokenEndpoint` is then not used. */
  hasTokenSource: boolean;
}

/** What can be used: checked, addresses absolute, defaults filled in. */
export interface Config {
  editorUrl: string;
  builder: string;
  ident: string;
  namespace: string;
  fn: string;
  template: string | undefined;
  tokenEndpoint: string | undefined;
  tokenMethod: 'post' | 'get';
  credentials: RequestCredentials;
  tokenDelivery: 'url';
  loading: 'eager' | 'lazy';
  timeout: number;
}

/** The attributes that are missing for the element to do anything. */
export const missing = (raw: RawConfig): string[] => [
  ...(['editor-url', 'builder', 'ident', 'fn'] as const).filter(
    (name) => !raw[name === 'editor-url' ? 'editorUrl' : name],
  ),
  ...(raw.hasTokenSource || raw.tokenEndpoint ? [] : ['token-endpoint']),
];

/**
 * Checks what the page set. Nothing must be `missing`.
 * @param base what relative addresses are relative to
 * @throws PluginEditorError with code `config` that names the attribute and says what it must be.
 */
export function checkConfig(raw: RawConfig, base: string): Config {
  try {
    const ident = raw.ident as string;
    const { environment, tenant } = parseIdent(ident);
    checkSegment('ident', environment);
    checkSegment('ident', tenant);
    // Not resolved against the page: the builder's address is for the editor, which lives elsewhere.
    httpUrl('builder', raw.builder as string);
    return {
      editorUrl: httpUrl('editor-url', raw.editorUrl as string, base).href,
      builder: raw.builder as string,
      ident,
      namespace: checkSegment('namespace', raw.namespace || DEFAULT_NAMESPACE),
      fn: checkSegment('fn', raw.fn as string),
      template: raw.template ? checkSegment('template', raw.template) : undefined,
      tokenEndpoint: raw.hasTokenSource
        ? undefined
        : httpUrl('token-endpoint', raw.tokenEndpoint as string, base).href,
      tokenMethod: oneOf('token-method', raw.tokenMethod, ['post', 'get']),
      credentials: oneOf('credentials', raw.credentials, ['same-origin', 'omit', 'include']),
      tokenDelivery: oneOf('token-delivery', raw.tokenDelivery, ['url']),
      loading: oneOf('loading', raw.loading, ['eager', 'lazy']),
      timeout: positive('timeout', raw.timeout ?? DEFAULT_TIMEOUT),
    };
  } catch (error) {
    throw new PluginEditorError('config', (error as Error).message);
  }
}

/** One of the words an attribute knows, the first when it is not set. */
function oneOf<T extends string>(name: string, value: Raw, words: readonly [T, ...T[]]): T {
  const word = words.find((known) => known === (value?.toLowerCase() || words[0]));
  if (!word) throw new TypeError(`${name} must be ${words.join(' or ')}`);
  return word;
}

function positive(name: string, value: number): number {
  // A timer cannot be set for longer; it would fire at once.
  if (!(value > 0 && value < 2 ** 31))
    throw new TypeError(`${name} must be a number of milliseconds above 0`);
  return value;
}
