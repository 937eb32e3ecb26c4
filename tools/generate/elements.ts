import { ATTRIBUTES } from '../../src/core/config.ts';
import type { Declaration, Documented, Manifest, Member, Typed } from './manifest.ts';

/** What the generators need to know of an element. */
export interface ElementView {
  tag: string;
  /** Name of its class. */
  className: string;
  /** Its name in frameworks: `PluginEditor`. */
  name: string;
  /** The first paragraph of its description. */
  summary: string;
  attributes: (Typed & {
    fieldName: string;
    /** Whether the types of frameworks require it, though it may be `null` or `undefined`. */
    required: boolean;
  })[];
  /** Properties of which one must be given, though it may be `null` or `undefined`. */
  oneOf: string[];
  /** The properties that can be set and have no attribute. */
  properties: Member[];
  readonly: Member[];
  methods: Member[];
  /** `fields`: those of the event's own class; `own`: whether it has such a class. */
  events: (Required<Omit<Typed, 'default'>> & { fields: Member[]; own: boolean })[];
  slots: Documented[];
  parts: Documented[];
  states: Documented[];
  cssProperties: Typed[];
}

/** Both elements, `<plugin-editor>` first. */
export function elementsOf({ modules }: Manifest): ElementView[] {
  const classes = modules.flatMap(({ declarations }) => declarations);
  return classes
    .filter(({ tagName }) => tagName)
    .map((declaration) => viewOf(declaration, classes))
    .toSorted((a, b) => a.tag.localeCompare(b.tag));
}

/** The properties of which one has to be set, because tokens come from it. */
const TOKEN_SOURCES = ['tokenEndpoint', 'fetchToken'];

const REQUIRED = Object.entries(ATTRIBUTES)
  .filter(([name, row]) => 'required' in row && !TOKEN_SOURCES.includes(name))
  .map(([name]) => name);

function viewOf(declaration: Declaration, classes: Declaration[]): ElementView {
  const { members = [], attributes = [], events = [] } = declaration;
  const isEditor = declaration.tagName === 'plugin-editor';
  const fields = members.filter(({ kind, attribute }) => kind === 'field' && !attribute);
  return {
    tag: declaration.tagName ?? '',
    className: declaration.name,
    name: declaration.name.replace(/Element$/, ''),
    summary: (declaration.description ?? '').split('\n')[0] ?? '',
    attributes: attributes.map((one) => ({ ...one, required: isEditor && REQUIRED.includes(one.fieldName) })),
    oneOf: isEditor ? TOKEN_SOURCES : [],
    properties: fields.filter(({ readonly }) => !readonly),
    readonly: fields.filter(({ readonly }) => readonly),
    methods: members.filter(({ kind }) => kind === 'method'),
    events: events.map(({ name, type, description = '' }) => {
      const eventClass = classes.find((one) => one.name === type?.text);
      const fieldsOf = (eventClass?.members ?? []).filter(({ inheritedFrom }) => !inheritedFrom);
      return { name, type: type ?? { text: 'Event' }, description, fields: fieldsOf, own: !!eventClass };
    }),
    slots: declaration.slots ?? [],
    parts: declaration.cssParts ?? [],
    states: declaration.cssStates ?? [],
    cssProperties: declaration.cssProperties ?? [],
  };
}

/** `plugin-editor-ready` is `PluginEditorReady`. */
export const pascalCase = (name: string): string =>
  name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());

/** A doc comment in one line, which the formatter wraps afterwards. */
export const comment = (text: string | undefined): string =>
  text ? `/** ${text.replaceAll('\n', ' ')} */\n` : '';

/** The names of the package's event classes. */
export const eventClasses = (elements: ElementView[]): string[] =>
  elements.flatMap(({ events }) => events.filter(({ own }) => own).map(({ type }) => type.text));
