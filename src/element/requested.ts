import { type AttributeName, namesWith } from '../core/attributes.ts';
import { type Config, type RawConfig, checkConfig, missingAttributes } from '../core/config.ts';
import { PluginEditorError } from '../core/errors.ts';

/** What the attributes ask for: a config, the error that says why they are none, or `undefined` while one is missing. */
export type Requested = Config | PluginEditorError | undefined;

/** Whether the attributes ask for something that can be launched. */
export const isConfig = (requested: Requested): requested is Config =>
  !!requested && !(requested instanceof Error);

/** A change of one of these needs a new token. */
const TOKEN_ATTRIBUTES = namesWith('token');

/** A change of one of these ends what is open. */
const RESTARTING_ATTRIBUTES = [...TOKEN_ATTRIBUTES, ...namesWith('frame', 'open')];

/** The controller acts upon a change of one of these. */
const WATCHED_ATTRIBUTES = [...RESTARTING_ATTRIBUTES, ...namesWith('later')];

/** Reads what the attributes ask for. */
export function readRequested(raw: RawConfig): Requested {
  try {
    return missingAttributes(raw).length ? undefined : checkConfig(raw, document.baseURI);
  } catch (error) {
    return error as PluginEditorError;
  }
}

/**
 * Reads what the attributes ask for, where nothing can be done without it.
 * @throws PluginEditorError with code `config` that says what is missing or wrong.
 */
export function requireConfig(raw: RawConfig): Config {
  const requested = readRequested(raw);
  if (isConfig(requested)) return requested;
  throw (
    requested ??
    new PluginEditorError('config', `<plugin-editor> lacks: ${missingAttributes(raw).join(', ')}`)
  );
}

/** The attributes that ask for something else than what is shown or loading; all of them where nothing can be shown. */
export const changedAttributes = (requested: Requested, shown: Config | undefined): AttributeName[] =>
  RESTARTING_ATTRIBUTES.filter((name) => !isConfig(requested) || requested[name] !== shown?.[name]);

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
