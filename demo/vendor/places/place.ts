import type { NamespaceDetails } from 'plugin-editor/server.js';
import type { PlaceView } from '../wire.ts';

/**
 * A place in Larder that every customer can fill with a plugin of its own. It is a namespace at the plugin service, which
 * knows what the plugins there get and give, and holds every run to it: nothing here checks a value again.
 */
export interface Place {
  namespace: string;
  /** The plugin's name. No two places share one, so that the name alone says which place is meant. */
  plugin: string;
  /** When Larder runs it. */
  runs: string;
  /** What the plugin service is told of the namespace. */
  types: NamespaceDetails;
  /** What the customer sees of it, with the plugin and without. */
  view: PlaceView;
  /** Values of Larder's own, with which its plugin is run when the customer looks. */
  cases: readonly Case[];
}

/** One value of Larder's own. */
export interface Case {
  input: unknown;
  /** What it is, in words. */
  what: string;
  /** What Larder does without a plugin, and where the plugin fails. */
  without: string;
  /** What Larder does with the plugin's output, whose shape the plugin service has checked. */
  show: (output: unknown) => Shown;
}

/** What a plugin's output comes to, in words. */
export interface Shown {
  text: string;
  note?: string | undefined;
}

/** One template for both languages: what JavaScript cannot have of it is the two types. */
export const templatesOf = (typescript: string): { typescript: string; javascript: string } => ({
  typescript,
  javascript: typescript.replace(': Input', '').replace(': Output', ''),
});

/** An amount of money, which Larder keeps in whole cents. */
export const euros = (cents: number): string => `€ ${(cents / 100).toFixed(2)}`;
