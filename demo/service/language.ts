import type { PluginSource } from './records.ts';

/** One language toolchain: the default export of one file in `languages/`. */
export interface Language {
  /** The value of `lang` and of the language path segment: lower-case letters, digits and hyphens. */
  readonly identifier: string;
  /** The name that people read. */
  readonly pretty: string;
  /** Two to four letters. */
  readonly short: string;
  /** A new plugin: source that works as it is, and tests for it. Any text is possible as a name. */
  template(plugin: { pluginName: string; namespace: string }): PluginSource;
}
