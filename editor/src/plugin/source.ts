import type { PluginSource, PluginTest } from 'plugin-editor/client.js';

/** The record with the editor's text and tests in it, and everything else as it was. */
export function withEdits(
  record: PluginSource,
  contents: string,
  tests: readonly PluginTest[],
): PluginSource {
  const edited: PluginSource = { ...record, contents };
  // A record without tests gets no empty list, which a service may take for a change.
  if (tests.length || record.tests) edited.tests = [...tests];
  return edited;
}

/** Whether two records have the same text, language and tests. Fields that the editor does not know are not compared. */
export function sameWork(a: PluginSource, b: PluginSource): boolean {
  return (
    a.contents === b.contents &&
    a.lang === b.lang &&
    canonicalJson(a.tests ?? []) === canonicalJson(b.tests ?? [])
  );
}

/** JSON with sorted keys: a service may give fields back in another order. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

/** Identifies what a build is made of: two sources with the same key have the same build. */
export const sourceKeyOf = ({ lang, contents }: PluginSource): string => `${lang}\n${contents}`;

/** The line break that a text has throughout, `\n` where it has none; `undefined` where it has several kinds. */
export function lineBreakOf(text: string): '\n' | '\r\n' | undefined {
  if (!text.includes('\r')) return '\n';
  return /[\r\n]/.test(text.replaceAll('\r\n', '')) ? undefined : '\r\n';
}

/** A text with `\n` for each line break, which is what a field of a form, and a default CodeMirror editor, make of it. */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n');
