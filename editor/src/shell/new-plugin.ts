import { BuilderClient, HttpError, type Language, type PluginSource } from 'plugin-editor/client.js';
import { loadTemplate } from '../service/template.ts';
import type { Opening } from './opening.ts';

/** What a new plugin begins with: a source, or a choice of languages. */
export type Beginning =
  | { source: PluginSource }
  /** `unknown`: the language that was asked for and that the service does not have. */
  | { languages: readonly Language[]; unknown: string | undefined };

/** What a plugin without a draft begins with: what the host gives, else the template of its language, else a choice. */
export async function loadBeginning(
  opening: Opening,
  initialSource: PluginSource | undefined,
): Promise<Beginning> {
  const { tokenHolder, builder, target, signal } = opening;
  const language = target.template;
  if (initialSource && (!language || language === initialSource.lang)) return { source: initialSource };
  if (language) {
    try {
      return { source: await loadTemplate(opening, language) };
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 404)) throw error;
    }
  }
  const client = new BuilderClient({ baseUrl: builder, token: () => tokenHolder.token });
  const { languages } = await client.getFeatures({ signal });
  return { languages, unknown: language };
}
