import { typescriptLanguage } from '@codemirror/lang-javascript';
import { pythonLanguage } from '@codemirror/lang-python';
import { highlightCode } from '@lezer/highlight';
import { type TemplateResult, html, nothing } from 'lit/html.js';

import type { PluginTypes, PluginTest, Sample } from 'plugin-editor/client.js';
import { codeHighlight } from '../code/code-theme.ts';
import { texts } from '../locales/locale.ts';
import '../pipeline/long-text.ts';
import { icon } from '../ui/icon.ts';
import './json-field.ts';
import type { SchemaChange } from './schema-changes.ts';
import './types.css';

export { schemaChanges } from './schema-changes.ts';

type Library = NonNullable<PluginTypes['libraries']>[number];

export interface TypesPanelOptions {
  types: PluginTypes;
  /** The language of the plugin; AssemblyScript takes and gives text. */
  lang: string;
  /** The version that the types are compared with, and their changes since; `undefined` where there are none. */
  since?: { version: string; isLive: boolean; changes: readonly SchemaChange[] } | undefined;
  /** Whether the live version was made for other types. */
  isOutdated: boolean;
  canEdit: boolean;
  canRun: boolean;
  addTest: (test: PluginTest) => void;
  /** Puts a sample into the field of the payload. */
  tryOut: (payload: string) => void;
}

/** A value as JSON that the user can edit. */
const formatValue = (value: unknown): string => JSON.stringify(value, null, 2);

/** Puts an empty line before each type. */
const spaced = (declarations: string): string => declarations.replaceAll(/;\n(?=\/\*\*|type )/g, ';\n\n');

/**
 * The types of the plugin's input and output, as types and as samples, and what it may reach and import. Loaded, with the fields
 * for values, where there is any of these.
 */
export function typesPanel(options: TypesPanelOptions): TemplateResult {
  const { types } = options;
  const words = texts().types;
  return html`<div class="types">
    ${types.declarations ? declarationsView(options) : nothing}
    ${types.connections ? connectionsView(types.connections) : nothing}
    ${types.libraries ? librariesView(types.libraries) : nothing}
    ${types.samples?.length ? html`<h2>${words.samples}</h2>` : nothing}
    ${(types.samples ?? []).map((sample, index) => sampleView(sample, index, options))}
  </div>`;
}

function declarationsView(options: TypesPanelOptions): TemplateResult {
  const { types, lang } = options;
  const words = texts().types;
  const declarations = types.declarations.trim();
  return html`${changesView(options)}
    <p class="panel-hint">
      ${lang === 'assemblyscript' ? words.introText : lang === 'python' ? words.introPython : words.intro}
    </p>
    <pre class="output types-code" dir="ltr" tabindex="0" role="group" aria-label=${texts().frame.types}><code
      >${highlightTypes(lang === 'python' ? declarations : spaced(declarations), lang)}</code></pre>`;
}

/** What `fetch` may reach. */
function connectionsView(connections: NonNullable<PluginTypes['connections']>): TemplateResult {
  const words = texts().types;
  return html`<section class="granted" aria-labelledby="may-reach">
    <h2 id="may-reach">${words.mayReach}</h2>
    <p class="panel-hint">${words.mayReachHint}</p>
    <ul>
      ${connections.map(
        ({ name, description, origin, pathPrefix = '/', methods = ['GET'] }) =>
          html`<li>
            <code dir="ltr">${methods.join(', ')} ${origin}${pathPrefix}</code>
            <span dir="auto">${description ?? name}</span>
            ${origin.includes('*') ? html`<span class="panel-hint">${words.noOriginYet}</span>` : nothing}
          </li>`,
      )}
    </ul>
  </section>`;
}

/** What may be imported, and how. */
function librariesView(libraries: readonly Library[]): TemplateResult {
  const words = texts().types;
  return html`<section class="granted" aria-labelledby="may-import">
    <h2 id="may-import">${words.mayImport}</h2>
    <p class="panel-hint">${words.mayImportHint}</p>
    <ul>
      ${libraries.map(
        (library) =>
          html`<li>
            <code dir="ltr">${importOf(library)}</code>
            <span dir="auto">${library.description ?? library.name} (${library.version})</span>
            <span class="panel-hint" dir="ltr">${someOf(library.exports)}</span>
          </li>`,
      )}
    </ul>
  </section>`;
}

/** How many names of a library's exports are listed. */
const MAX_EXPORTS = 20;

const someOf = (names: readonly string[]): string =>
  [...names.slice(0, MAX_EXPORTS), ...(names.length > MAX_EXPORTS ? ['…'] : [])].join(', ');

/** An import of a library's first names. */
function importOf({ name, exports }: Library): string {
  const names = exports.filter((one) => one !== 'default');
  const taken = names.length ? `{ ${names.slice(0, 3).join(', ')} }` : name.replaceAll(/^.*\/|\W/g, '');
  return exports.length ? `import ${taken} from '${name}';` : `import '${name}';`;
}

function sampleView(sample: Sample, index: number, options: TypesPanelOptions): TemplateResult {
  const { canEdit, canRun, addTest, tryOut } = options;
  const { types: words, runs, versions } = texts();
  const { of } = versions;
  const { name, description, input, output } = sample;
  const hasOutput = output !== undefined;
  const asTest = () =>
    addTest({
      name,
      ...(description ? { description } : {}),
      payload: formatValue(input),
      ...(hasOutput ? { expected: formatValue(output) } : {}),
    });
  const button = (label: string, run: () => void) =>
    html`<button type="button" class="button" aria-label=${of(label, name)} @click=${run}>${label}</button>`;
  return html`<details class="entry sample" ?open=${index === 0}>
    <summary>${icon('chevron')}<span class="sample-name">${name}</span></summary>
    <div class="entry-fields">
      ${description ? html`<p class="panel-hint" dir="auto">${description}</p>` : nothing}
      <p class="result-label">${runs.input}</p>
      <long-text .text=${formatValue(input)} .label=${of(runs.input, name)}></long-text>
      ${
        hasOutput
          ? html`<p class="result-label">${runs.output}</p>
              <long-text .text=${formatValue(output)} .label=${of(runs.output, name)}></long-text>`
          : nothing
      }
      <div class="panel-actions">
        ${canEdit ? button(words.asTest, asTest) : nothing}
        ${canRun ? button(words.tryOut, () => tryOut(formatValue(input))) : nothing}
      </div>
    </div>
  </details>`;
}

/** The changes of the types since a version was deployed. */
function changesView({ since, isOutdated }: TypesPanelOptions): TemplateResult | typeof nothing {
  const words = texts().types;
  if (!since?.changes.length) {
    return isOutdated
      ? html`<p class="types-outdated">${icon('warning')}<span>${words.outdated}</span></p>`
      : nothing;
  }
  const title = since.isLive ? words.changedSinceLive(since.version) : words.changedSince(since.version);
  return html`<section class="types-changes" aria-label=${title}>
    <p class="types-outdated">${icon('warning')}<span>${title}</span></p>
    <ul>
      ${since.changes.map(changeView)}
    </ul>
    <p class="panel-hint">${words.buildAgain}</p>
  </section>`;
}

const signs: Record<SchemaChange['kind'], string> = {
  added: '+',
  removed: '−',
  type: '~',
  required: '~',
  optional: '~',
  rules: '~',
};

function changeView({ path, kind, was, is }: SchemaChange): TemplateResult {
  const words = texts().types.change;
  return html`<li data-kind=${kind}>
    <span class="change-sign" aria-hidden="true">${signs[kind]}</span>
    <span
      ><code dir="ltr">${path}</code> ${words[kind]}${
        kind === 'type'
          ? html`<code dir="ltr" class="change-types">${was} → ${is}</code>`
          : (is ?? was)
            ? html`<code dir="ltr" class="change-types">${is ?? was}</code>`
            : nothing
      }</span
    >
  </li>`;
}

/** TypeScript or Python in the colours of the text editor, whose style sheet is in the page with it. */
function highlightTypes(code: string, lang: string): TemplateResult {
  const parts: (TemplateResult | string)[] = [];
  highlightCode(
    code,
    (lang === 'python' ? pythonLanguage : typescriptLanguage).parser.parse(code),
    codeHighlight,
    (text, classes) => parts.push(classes ? html`<span class=${classes}>${text}</span>` : text),
    () => parts.push('\n'),
  );
  return html`${parts}`;
}
