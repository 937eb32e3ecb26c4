import { getWebTypesData } from 'custom-element-jet-brains-integration';
import { getVsCodeCssCustomData, getVsCodeHtmlCustomData } from 'custom-element-vs-code-integration';

import type { Manifest } from './manifest.ts';

/** Leaves events, slots and so on out of the descriptions, because the data has fields for them. */
const WITHOUT_LISTS = {
  hideEventDocs: true,
  hideSlotDocs: true,
  hideMethodDocs: true,
  hideCssPropertiesDocs: true,
  hideCssPartsDocs: true,
};

/** The data for editors, by path in dist/: the manifest itself, and its content for VS Code and for JetBrains' editors. */
export function toolFiles(manifest: Manifest, version: string): Map<string, string> {
  // The generators change what they are given.
  const copy = () => structuredClone(manifest) as never;
  const webTypes = JSON.parse(getWebTypesData(copy(), WITHOUT_LISTS)) as Record<string, unknown>;
  return new Map(
    Object.entries({
      'custom-elements.json': manifest,
      'vscode.html-custom-data.json': JSON.parse(getVsCodeHtmlCustomData(copy(), {})) as unknown,
      'vscode.css-custom-data.json': withoutDuplicates(
        JSON.parse(getVsCodeCssCustomData(copy(), {})) as CssData,
      ),
      'web-types.json': { ...webTypes, name: 'plugin-editor', version },
    }).map(([path, data]) => [path, `${JSON.stringify(data)}\n`]),
  );
}

type CssData = Record<'properties' | 'pseudoElements', { name: string; description: string }[]>;

/** Merges parts and custom properties that both elements have by the same name, because VS Code would offer them twice. */
function withoutDuplicates(data: CssData): CssData {
  const merged = { ...data };
  for (const key of ['properties', 'pseudoElements'] as const) {
    const byName = Map.groupBy(data[key], ({ name }) => name);
    merged[key] = [...byName.values()].map((same) => ({
      ...(same[0] as CssData[typeof key][number]),
      description: [...new Set(same.map(({ description }) => description))].join(' / '),
    }));
  }
  return merged;
}
