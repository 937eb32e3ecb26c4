import { type AttributeName, namesWith } from '../core/attributes.ts';
import { type Config, type RawConfig, checkConfig, missing } from '../core/config.ts';
import { PluginEditorError } from '../core/errors.ts';

/** What the attributes ask for: a config, why they are none, or nothing as long as something is missing. */
export type Requested = Config | PluginEditorError | undefined;

/** A change of one of these takes a new token. */
const TOKEN = namesWith('token');

/** A change of one of these ends what is open. */
const RESTARTING = [...TOKEN, ...namesWith('frame', 'open')];

/** A change of one of these is acted upon by the controller. */
const FOLLOWED = [...RESTARTING, ...namesWith('later')];

/** Reads what the attributes ask for. */
export function readRequested(raw: RawConfig): Requested {
  try {
    return missing(raw).length ? undefined : checkConfig(raw, document.baseURI);
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
  if (requested && !(requested instanceof Error)) return requested;
  throw requested ?? new PluginEditorError('config', `<plugin-editor> lacks: ${missing(raw).join(', ')}`);
}

/** The attributes that ask for something else than what is shown or loading; all of them where nothing can be shown. */
export const changedAttributes = (requested: Requested, shown: Config | undefined): AttributeName[] =>
  RESTARTING.filter((name) => !requested || requested instanceof Error || requested[name] !== shown?.[name]);

/** Whether one of these changes takes a new token. */
export const needsToken = (changed: AttributeName[]): boolean => changed.some((name) => TOKEN.includes(name));

/** The values whose change is acted upon. `fetchToken` counts by its presence: React makes a new function at every render. */
export const followedValues = (raw: RawConfig): unknown[] => [
  !raw.fetchToken,
  ...FOLLOWED.map((name) => raw[name]),
];
