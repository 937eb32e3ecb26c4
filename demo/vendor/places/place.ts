import type { NamespaceDetails } from 'plugin-editor/server.js';
import type { PlaceView } from '../wire.ts';

/**
 * A place in Larder for which every customer can write a plugin. It is a namespace at the plugin service, which knows the types
 * of input and output and checks the values of every run, so that nothing here checks them again.
 */
export interface Place {
  namespace: string;
  /** The plugin's name. No two places share one, so that the name alone says which place is meant. */
  plugin: string;
  /** When Larder runs it. */
  runs: string;
  /** The types of the namespace, for the plugin service. */
  types: NamespaceDetails;
  /** What the customer sees of it, with the plugin and without. */
  view: PlaceView;
  /** Larder's own data, with which the plugin is run when the customer looks at its work. */
  cases: readonly Case[];
}

/** One value of Larder's own. */
export interface Case {
  input: unknown;
  /** A name of the value, for people, and what else there is to know of it. */
  what: string;
  detail: string;
  /** What Larder does without a plugin, and where the plugin fails. */
  without: string;
  /** What Larder does with the plugin's output, whose shape the plugin service has checked. */
  show: (output: unknown) => Shown;
}

/** What Larder makes of a plugin's output, as text. */
export interface Shown {
  text: string;
  note?: string | undefined;
}

/** The templates of both languages: that of JavaScript is the given one without its two types. */
export const templatesOf = (typescript: string): { typescript: string; javascript: string } => ({
  typescript,
  javascript: typescript.replace(': Input', '').replace(': Output', ''),
});

/** An amount of money, which Larder keeps in whole cents. */
export const euros = (cents: number): string => `€ ${(cents / 100).toFixed(2)}`;
