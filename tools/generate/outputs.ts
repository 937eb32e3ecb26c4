import { readFileSync } from 'node:fs';
import { type Options, format, resolveConfig } from 'prettier';

import { elementsOf } from './elements.ts';
import { errorCodeTable } from './error-codes.ts';
import { frameworkTypes } from './framework-types.ts';
import { createManifest } from './manifest.ts';
import { moduleReference } from './modules.ts';
import { POLICIES_PAGE, withPolicies } from './policies.ts';
import { reactModule } from './react.ts';
import { fillMarkers, pageSections } from './pages.ts';

const HEAD = '// Generated from the doc comments of the elements by `npm run generate`.';

/** Every file that is generated and committed, by path. */
export async function committedFiles(manifest = createManifest()): Promise<Map<string, string>> {
  const elements = elementsOf(manifest);
  const files = new Map([['src/react.ts', reactModule(elements, HEAD)]]);
  for (const [path, text] of frameworkTypes(elements, HEAD)) files.set(path, text);
  for (const [path, sections] of Object.entries(pageSections(elements)))
    files.set(path, fillMarkers(readFileSync(path, 'utf8'), sections));
  files.set(POLICIES_PAGE, await withPolicies(readFileSync(POLICIES_PAGE, 'utf8')));
  files.set('docs/reference/modules.md', moduleReference());
  const http = readFileSync('docs/reference/http.md', 'utf8');
  files.set('docs/reference/http.md', fillMarkers(http, { 'error codes': await errorCodeTable() }));
  for (const [path, text] of files) files.set(path, await formatted(path, text));
  return files;
}

/** As `npm run check -- format` wants it. */
async function formatted(path: string, text: string): Promise<string> {
  const options = (await resolveConfig(path)) as Options;
  return format(text, { ...options, filepath: path });
}
