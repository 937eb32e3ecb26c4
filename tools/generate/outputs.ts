import { readFileSync } from 'node:fs';
import { type Options, format, resolveConfig } from 'prettier';

import { elementsOf } from './elements.ts';
import { frameworkTypes } from './framework-types.ts';
import { createManifest } from './manifest.ts';
import { moduleReference } from './modules.ts';
import { POLICIES_PAGE, withPolicies } from './policies.ts';
import { reactModule } from './react.ts';
import { limitTables } from './limits.ts';
import { llmsText } from './llms-text.ts';
import { code, fillMarkers, table } from './markdown.ts';
import { commonErrors, operationSections, pathParameters, recordSections } from './operations.ts';
import { pageSections } from './pages.ts';
import { pythonLibrary } from './python-library.ts';
import { type ServiceFacts, serviceFacts } from './service.ts';
import { settingsTable } from './settings.ts';

const HEAD = '// Generated from the doc comments of the elements by `npm run generate`.';

/** Every file that is generated and committed, by path. */
export async function committedFiles(manifest = createManifest()): Promise<Map<string, string>> {
  const elements = elementsOf(manifest);
  const files = new Map([['src/react.ts', reactModule(elements, HEAD)]]);
  for (const [path, text] of frameworkTypes(elements, HEAD)) files.set(path, text);
  const sectionsOfPages = { ...pageSections(elements), ...serviceSections(await serviceFacts()) };
  for (const [path, sections] of Object.entries(sectionsOfPages))
    files.set(path, fillMarkers(readFileSync(path, 'utf8'), sections));
  files.set(POLICIES_PAGE, await withPolicies(readFileSync(POLICIES_PAGE, 'utf8')));
  files.set('docs/reference/modules.md', moduleReference());
  files.set('editor/src/code/python-library.json', await pythonLibrary());
  for (const [path, text] of files) files.set(path, await formatted(path, text));
  files.set(
    'llms.txt',
    llmsText((path) => files.get(path) ?? readFileSync(path, 'utf8')),
  );
  return files;
}

/** The sections that are generated from the service, by page and marker. */
const serviceSections = (facts: ServiceFacts): Record<string, Record<string, string>> => ({
  'docs/reference/http.md': { 'error codes': errorCodeTable(facts) },
  'docs/reference/operations.md': {
    'path parameters': pathParameters(facts.openApi),
    'common errors': `${commonErrors(facts.openApi).join(', ')}.`,
    operations: operationSections(facts.openApi),
    records: recordSections(facts.openApi),
  },
  'docs/reference/limits.md': limitTables(facts),
  'docs/service/settings.md': { settings: settingsTable(facts) },
});

const errorCodeTable = ({ errorCodes }: ServiceFacts) =>
  table(
    ['code', 'status', 'meaning'],
    Object.entries(errorCodes).flatMap(([name, meanings]) =>
      Object.entries(meanings).map(([status, meaning]) => [code(name), status, meaning]),
    ),
  );

/** Formats a text as `npm run check -- format` requires. */
async function formatted(path: string, text: string): Promise<string> {
  const options = (await resolveConfig(path)) as Options;
  return format(text, { ...options, filepath: path });
}
