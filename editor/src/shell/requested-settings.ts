import { type PluginSource, pluginSourceSchema } from 'plugin-editor/client.js';
import type { Appearance } from '../ui/appearance.ts';

/** The settings that the page around the editor asks for. The user's own settings are in `ui/settings.ts`. */
export interface RequestedSettings {
  /** BCP 47 tag for texts, dates and numbers. */
  locale?: string | undefined;
  /** Nothing may be changed. */
  readOnly?: boolean | undefined;
  appearance?: Appearance | undefined;
  /** Whether the page has an assistant. */
  assistant?: boolean | undefined;
  /** What a plugin without a draft begins with. */
  initialSource?: PluginSource | undefined;
}

/** The settings in a message that opens a plugin. Fields of another type than expected are left out. */
export function parseRequestedSettings(open: object): RequestedSettings {
  const { initialSource } = open as Record<string, unknown>;
  const source = pluginSourceSchema.safeParse(initialSource);
  return { ...applySettingsChange({}, open), ...(source.success ? { initialSource: source.data } : {}) };
}

/** The settings after a change of some of them: a missing field is unchanged, and `null` unsets one. */
export function applySettingsChange(settings: RequestedSettings, changes: object): RequestedSettings {
  const { locale, readOnly, appearance, assistant } = changes as Record<string, unknown>;
  const change: RequestedSettings = {};
  if (locale === null || typeof locale === 'string') change.locale = locale ?? undefined;
  if (readOnly === null || typeof readOnly === 'boolean') change.readOnly = readOnly ?? undefined;
  if (appearance === null || typeof appearance === 'object') change.appearance = appearance ?? undefined;
  if (assistant === null || typeof assistant === 'boolean') change.assistant = assistant ?? undefined;
  return { ...settings, ...change };
}
