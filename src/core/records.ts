import * as z from 'zod/mini';

// The records that the elements and the clients share. Records keep the fields that are not named here.

/** One test of a plugin. No field is required, because builders differ in that. */
export const pluginTestSchema = z.looseObject({
  name: z.optional(z.string()),
  description: z.optional(z.string()),
  payload: z.optional(z.string()),
  /** The result with which the test passes: text, or any JSON. */
  expected: z.optional(z.unknown()),
  /** The responses to its calls, as `CallMock`. */
  calls: z.optional(z.unknown()),
});

/** The source of a plugin: a draft or a template. */
export const pluginSourceSchema = z.looseObject({
  contents: z.string(),
  lang: z.string(),
  tests: z.optional(z.array(pluginTestSchema)),
});

/** One language that a builder supports. */
export const languageSchema = z.looseObject({
  identifier: z.string(),
  pretty: z.string(),
  short: z.string(),
});

/** What a builder supports. Known features: `testing`, `stream_builds`. */
export const featuresSchema = z.looseObject({
  features: z.array(z.string()),
  languages: z.array(languageSchema),
});

/** An editor token, as a token endpoint or the access interface answers it. */
export const editorTokenSchema = z.looseObject({
  // `z.minLength(1)` says the same, and adds 0.3 KB gzip to `client.js`.
  token: z.string().check(({ value, issues }) => {
    if (!value)
      issues.push({ code: 'too_small', origin: 'string', minimum: 1, inclusive: true, input: value });
  }),
});

export type PluginTest = z.output<typeof pluginTestSchema>;
export type PluginSource = z.output<typeof pluginSourceSchema>;
export type Language = z.output<typeof languageSchema>;
export type Features = z.output<typeof featuresSchema>;
