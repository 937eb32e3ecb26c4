import * as z from 'zod/mini';
import { optionalText, text } from './fields.ts';

/** One test of a plugin. No field is required, because builders differ in that. */
export const pluginTestSchema = z.looseObject({
  name: optionalText,
  description: optionalText,
  payload: optionalText,
});

/** The source of a plugin: a draft or a template. */
export const pluginSourceSchema = z.looseObject({
  contents: text,
  lang: text,
  tests: z.optional(z.array(pluginTestSchema)),
});

/** One language that a builder supports. */
export const languageSchema = z.looseObject({
  identifier: text,
  pretty: text,
  short: text,
});

/** What a builder supports. Known features: `testing`, `stream_builds`. */
export const featuresSchema = z.looseObject({
  features: z.array(text),
  languages: z.array(languageSchema),
});

/** An editor token, as a token endpoint or the access interface answers it. */
export const editorTokenSchema = z.looseObject({
  token: text.check(({ value, issues }) => {
    // This is zod's own `minLength`, without the 0.3 KB that importing it would add to every bundle.
    if (!value)
      issues.push({ code: 'too_small', origin: 'string', minimum: 1, inclusive: true, input: value });
  }),
});

export type PluginTest = z.output<typeof pluginTestSchema>;
export type PluginSource = z.output<typeof pluginSourceSchema>;
export type Language = z.output<typeof languageSchema>;
export type Features = z.output<typeof featuresSchema>;
