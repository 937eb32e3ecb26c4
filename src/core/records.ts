import * as z from 'zod/mini';

/** One test of a plugin (interface: Test object). Which fields are required is not shown, so none is. */
export const pluginTestSchema = z.looseObject({
  name: z.optional(z.string()),
  description: z.optional(z.string()),
  payload: z.optional(z.string()),
});

/** Source of a plugin, as drafts and templates are answered (interface: Plugin source record). */
export const pluginSourceSchema = z.looseObject({
  contents: z.string(),
  lang: z.string(),
  tests: z.optional(z.array(pluginTestSchema)),
});

/** One language that a builder supports (interface: Language object). */
export const languageSchema = z.looseObject({
  identifier: z.string(),
  pretty: z.string(),
  short: z.string(),
});

/** What a builder supports (interface: Features record). Known features: `testing`, `stream_builds`. */
export const featuresSchema = z.looseObject({
  features: z.array(z.string()),
  languages: z.array(languageSchema),
});

/** An editor token as an endpoint answers it (interface: Editor token record). */
export const editorTokenSchema = z.looseObject({
  token: z.string().check(({ value, issues }) => {
    // What zod's own `minLength` says, without the 0.3 KB that it brings to every bundle.
    if (!value)
      issues.push({ code: 'too_small', origin: 'string', minimum: 1, inclusive: true, input: value });
  }),
});

export type PluginTest = z.output<typeof pluginTestSchema>;
export type PluginSource = z.output<typeof pluginSourceSchema>;
export type Language = z.output<typeof languageSchema>;
export type Features = z.output<typeof featuresSchema>;
