import type { PluginSource, PluginTest } from 'plugin-editor/client.js';

/** The record with the editor's text and tests in it, and everything else as it was. */
export function withEdits(
  record: PluginSource,
  contents: string,
  tests: readonly PluginTest[],
): PluginSource {
  const edited: PluginSource = { ...record, contents };
  // A record that came without tests stays without: an empty list is not the same to every builder.
  if (tests.length || record.tests) edited.tests = [...tests];
  return edited;
}

/** Whether two records hold the same work. Other fields than the interface's own are the builder's affair. */
export function sameWork(a: PluginSource, b: PluginSource): boolean {
  return (
    a.contents === b.contents && a.lang === b.lang && canonical(a.tests ?? []) === canonical(b.tests ?? [])
  );
}

/** JSON with sorted keys: a builder may give fields back in another order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

/** Identifies the text that a build is made of. Two sources with the same key give the same build. */
export const sourceKeyOf = ({ lang, contents }: PluginSource): string => `${lang}\n${contents}`;
