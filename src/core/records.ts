import * as z from 'zod/mini';
import { optionalText, text } from './fields.ts';

/** One test of a plugin (interface: Test object). Which fields are required is not shown, so none is. */
export const pluginTestSchema = z.looseObject({
  name: optionalText,
  description: optionalText,
  payload: optionalText,
});

/** Source of a plugin, as drafts and templates are answered (interface: Plugin source record). */
export const pluginSourceSchema = z.looseObject({
  contents: text,
  lang: text,
  tests: z.optional(z.array(pluginTestSchema)),
});

/** One language that a builder supports (interface: Language object). */
export const languageSchema = z.looseObject({
  identifier: text,
  pretty: text,
  short: text,
});

/** What a builder supports (interface: Features record). Known features: `testing`, `stream_builds`. */
export const featuresSchema = z.looseObject({
  features: z.array(text),
  languages: z.array(languageSchema),
});

/** An editor token as an endpoint answers it (interface: Editor token record). */
export const editorTokenSchema = z.looseObject({
  token: text.check(({ value, issues }) => {
    // What zod's own `minLength` says, without the 0.3 KB that it brings to every bundle.
    if (!value)
      issues.push({ code: 'too_small', origin: 'string', minimum: 1, inclusive: true, input: value });
  }),
});

export type PluginTest = z.output<typeof pluginTestSchema>;
export type PluginSource = z.output<typeof pluginSourceSchema>;
export type Language = z.output<typeof languageSchema>;
export type Features = z.output<typeof featuresSchema>;
