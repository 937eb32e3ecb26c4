import { ATTRIBUTES } from '../../src/core/attributes.ts';
import type { Declaration, Documented, Manifest, Member, Typed } from './manifest-types.ts';

/** An element as the generators here see it. */
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
    /** Whether frameworks ask for it, though it may be `null` or `undefined`. */
    required: boolean;
  })[];
  /** Properties of which one must be given, though it may be `null` or `undefined`. */
  oneOf: string[];
  /** What can be set and has no attribute. */
  properties: Member[];
  readonly: Member[];
  methods: Member[];
  /** `fields` are those that not all events about a plugin have. */
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

/** Where tokens come from. */
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

/** A doc comment, to be formatted afterwards. */
export const comment = (text: string | undefined): string =>
  text ? `/** ${text.replaceAll('\n', ' ')} */\n` : '';

/** Names of the event classes of the package. */
export const eventClasses = (elements: ElementView[]): string[] =>
  elements.flatMap(({ events }) => events.filter(({ own }) => own).map(({ type }) => type.text));
