import { type PluginSource, pluginSourceSchema } from 'plugin-editor/client.js';
import type { Appearance } from '../ui/appearance.ts';

/** What the page around the editor wants, beside which plugin to open. */
export interface HostWishes {
  /** BCP 47 tag for texts, dates and numbers. */
  locale?: string | undefined;
  /** Nothing is to be changed. */
  readOnly?: boolean | undefined;
  appearance?: Appearance | undefined;
  /** What a plugin without a draft begins with. */
  initialSource?: PluginSource | undefined;
}

/** What a message to open a plugin wants. Fields of another type than expected are left out. */
export function wishesOf(open: object): HostWishes {
  const { initialSource } = open as Record<string, unknown>;
  const source = pluginSourceSchema.safeParse(initialSource);
  return { ...changeWishes({}, open), ...(source.success ? { initialSource: source.data } : {}) };
}

/** The wishes after a change of some of them: a field that is missing is unchanged, and `null` is unset. */
export function changeWishes(wishes: HostWishes, changes: object): HostWishes {
  const { locale, readOnly, appearance } = changes as Record<string, unknown>;
  const change: HostWishes = {};
  if (locale === null || typeof locale === 'string') change.locale = locale ?? undefined;
  if (readOnly === null || typeof readOnly === 'boolean') change.readOnly = readOnly ?? undefined;
  if (appearance === null || typeof appearance === 'object') change.appearance = appearance ?? undefined;
  return { ...wishes, ...change };
}
