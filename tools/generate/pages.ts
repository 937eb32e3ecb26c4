import { readFileSync } from 'node:fs';
import { LIMITS, MAX_ASSIST_VALUES, MAX_VALUES } from '../../src/core/messages.ts';
import { defaultFeaturesStrings, defaultStrings } from '../../src/element/strings.ts';
import type { ElementView } from './elements.ts';
import type { Documented, Member, Typed } from './manifest.ts';
import { code, table } from './markdown.ts';
import { messagesOf } from './protocol.ts';

/** The sections that are generated from the launcher, by the page's path and the name of their markers. */
export function pageSections(elements: ElementView[]): Record<string, Record<string, string>> {
  const editor = elements.find(({ tag }) => tag === 'plugin-editor') as ElementView;
  const features = elements.find(({ tag }) => tag === 'plugin-features') as ElementView;
  return {
    'docs/reference/plugin-editor.md': {
      'plugin-editor attributes': attributes(editor),
      'plugin-editor members': members(editor),
      'plugin-editor styling': styling(editor),
    },
    'docs/reference/plugin-features.md': {
      'plugin-features reference': [attributes(features), members(features), styling(features)].join('\n\n'),
    },
    'docs/reference/errors.md': { 'plugin-editor errors': editorErrors() },
    'docs/reference/events.md': {
      'plugin-editor events': events(editor),
      'plugin-features events': events(features),
    },
    'docs/reference/frame-protocol.md': {
      'protocol messages': messagesTable(),
      'protocol limits': limitsTable(),
    },
    'docs/guides/languages.md': {
      'plugin-editor strings': strings(defaultStrings),
      'plugin-features strings': strings(defaultFeaturesStrings),
    },
  };
}

const attributes = ({ attributes: all }: ElementView) =>
  table(
    ['attribute (property)', 'default', 'meaning'],
    all.map((one) => [
      code(one.name) + (one.fieldName === one.name ? '' : ` (${code(one.fieldName)})`),
      defaultOf(one),
      (one.description ?? '').replace(/ Required\.$/, ''),
    ]),
  );

/** The cell for a default. A long default is in the text of the page instead. */
function defaultOf({ default: value, type, required }: Typed & { required: boolean }): string {
  if (required) return 'required';
  if (type?.text === 'boolean') return 'off';
  if (value === undefined) return '-';
  return value.length > 40 ? 'see below' : code(value.replaceAll("'", ''));
}

const events = ({ events: all }: ElementView) =>
  table(
    ['event', 'fields', 'when'],
    all.map(({ name, fields, description }) => [
      code(name),
      fields.map(field).join(', ') || '-',
      description,
    ]),
  );

/** The table of the codes of `PluginEditorError`, with the doc comment of each. */
function editorErrors(): string {
  const [, union = ''] =
    /export type PluginEditorErrorCode =([^]*?');/.exec(readFileSync(ERRORS, 'utf8')) ?? [];
  const codes = [...union.matchAll(/\| '([\w-]+)'/g)];
  const rows = Array.from(
    union.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*\| '([\w-]+)'/g),
    ([, comment = '', name = '']) => {
      const words = comment.replaceAll(/\s*\n\s*\* ?/g, ' ').trim();
      return [code(name), ...words.split(' @remedy ')];
    },
  );
  if (rows.length < codes.length || rows.some((row) => row.length !== 3))
    throw new Error(`${ERRORS}: each code of PluginEditorError needs a doc comment with @remedy`);
  return table(['code', 'what happened', 'what to do'], rows);
}

const ERRORS = 'src/core/errors.ts';

/** The table of the English texts, which a page may replace. */
const strings = (texts: object) =>
  table(
    ['key', 'English text'],
    Object.entries(texts).map(([key, text]) => [code(key), text]),
  );

/** The table of the messages of the frame protocol. */
const messagesTable = () =>
  table(
    ['from', 'type', 'fields', 'meaning'],
    messagesOf().map(({ from, type, fields, doc }) => [
      from,
      code(type),
      fields.map(code).join(', ') || '-',
      doc,
    ]),
  );

/** The table of the limits of an editor's messages. */
const limitsTable = () =>
  table(
    ['type', 'field', 'at most'],
    Object.entries(LIMITS).flatMap(([type, fields]) =>
      Object.entries(fields).map(([name, limit]: [string, number]) => [
        code(type),
        code(name),
        limit.toLocaleString('en') +
          (LISTS.includes(`${type}.${name}`)
            ? ` in all texts together; ${(type === 'assist' ? MAX_ASSIST_VALUES : MAX_VALUES).toLocaleString('en')} items and fields`
            : ''),
      ]),
    ),
  );

/** The fields that may hold several texts. */
const LISTS = [
  'hello.capabilities',
  'ready.permissions',
  'test.error',
  'assist.tests',
  'assist.problems',
  'assist.failures',
];

const field = ({ name, type }: Member) => code(name + (type?.text.endsWith('| undefined') ? '?' : ''));

const members = ({ properties, readonly, methods }: ElementView) =>
  table(
    ['property or method', 'meaning'],
    [
      ...properties.map((one): [string, Documented] => [code(one.name), one]),
      ...readonly.map((one): [string, Documented] => [`${code(one.name)}, read-only`, one]),
      ...methods.map((one): [string, Documented] => [code(`${one.name}()`), one]),
    ].map(([name, { description = '' }]) => [name, description]),
  );

/** The tables of parts, states and slots, and of custom properties. */
const styling = ({ parts, states, slots, cssProperties }: ElementView) =>
  [
    table(
      ['style hook', 'what it is'],
      [
        ...parts.map((one) => [code(`::part(${one.name})`), one.description ?? '']),
        ...states.map((one) => [code(`:state(${one.name})`), one.description ?? '']),
        ...slots.map((one) => [code(`slot="${one.name}"`), one.description ?? '']),
      ],
    ),
    table(
      ['custom property', 'default', 'what it is'],
      cssProperties.map((one) => [code(one.name), code(one.default ?? ''), one.description ?? '']),
    ),
  ].join('\n\n');
